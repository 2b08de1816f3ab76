/* What the program includes: only the types that its signatures name. */
#include <linux/types.h>

typedef struct image_tag image_tag;
