/* Which letters there are, in the C of before 1989. */
#include "word.h"

static class;

is_letter(c)
    int c;
{
    class++;
    return isprint(c);
}
