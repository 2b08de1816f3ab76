// The types that Figure 2 of the paper names.
#include <linux/types.h>

typedef struct {
    char name[64];
    __u8 *jpeg;
    int size;
    int references;
} image_tag;
