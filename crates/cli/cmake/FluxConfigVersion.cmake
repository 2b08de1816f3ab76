# Whether this version of Flux is one that a project asks for: before 1.0 a minor version may break what the last one had.

set(PACKAGE_VERSION "VERSION")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" offered "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" wanted "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_VERSION_EXACT OR (offered VERSION_EQUAL wanted AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
