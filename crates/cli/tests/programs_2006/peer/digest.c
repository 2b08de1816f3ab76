/* The digest of a piece: not SHA-1, but called as that is. C, for all that it says; what calls it is C++. */
#include "digest.h"
#include <string.h>

void DigestInit(DIGEST_CTX* context)
{
    memset(context, 0, sizeof(*context));
    context->state[0] = 0x67452301;
}

void DigestUpdate(DIGEST_CTX* context, unsigned char* data, unsigned int len)
{
    unsigned int i, j;
    for (i = 0, j = 0; i < len; i++, j = (j + 1) % 5)
        context->state[j] = (context->state[j] * 33 ^ data[i]) & 0xffffffff;
}

void DigestFinal(unsigned char digest[20], DIGEST_CTX* context)
{
    int i;
    for (i = 0; i < 20; i++)
        digest[i] = (unsigned char)((context->state[i>>2] >> ((3-(i & 3)) * 8)) & 255);
}
