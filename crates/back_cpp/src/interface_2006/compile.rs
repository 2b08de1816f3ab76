//! How sources of 2006 are compiled: as what they are, by compilers of today.

/// The script that compiles such a source in the first of several ways that takes it.
pub const SCRIPT: &str = include_str!("compile_2006.sh");
/// What that script is called in the folder of the build.
pub const SCRIPT_NAME: &str = "compile_2006.sh";

/// The variables of the Makefile for such sources. Their warnings are about what was right at the time, but for that of
/// a missing return. C++ is read as C++98, where std has no name that an author could not know; then as what it became,
/// for those who have written it since. Generated code is C++20, as the runtime is, and with an author's headers in it.
pub const VARIABLES: &str = "\
FLAGS_2006 = $(filter-out -Wall -Wextra,$(FLAGS)) $(COLOR) -Wreturn-type
CXXFLAGS_2006 = -x c++ -fpermissive $(FLAGS_2006) -Wno-write-strings -Wno-narrowing -Wno-deprecated \
    -Wno-deprecated-declarations -include flux/code_2006/interface_2006.hpp \
    -idirafter runtime/include/flux/code_2006/before_std
CFLAGS_2006 = $(FLAGS_2006) -include flux/code_2006/interface_2006.hpp
CPP98 = -std=gnu++98 -Wno-c++11-extensions
CXX_WAYS = $(CPP98)|$(CPP98) -DFLUX_USING_STD|$(CPP98) -DFLUX_MORE_HEADERS|\
$(CPP98) -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++14 -DFLUX_MORE_HEADERS|\
-std=gnu++14 -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++20 -DFLUX_MORE_HEADERS
C_WAYS = -std=gnu89|-std=gnu89 -DFLUX_MORE_HEADERS|-std=gnu99 -fgnu89-inline -DFLUX_MORE_HEADERS
FLOW_WAYS = -std=gnu++20|-std=gnu++20 -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++20 -DFLUX_STD_2006|\
-std=gnu++20 -DFLUX_STD_2006 -DFLUX_USING_STD_2006|-std=gnu++20 -DFLUX_STD_2006 -DFLUX_MORE_HEADERS|\
-std=gnu++20 -DFLUX_STD_2006 -DFLUX_MORE_HEADERS -DFLUX_USING_STD_2006
";
