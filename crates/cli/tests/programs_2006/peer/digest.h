/* Digests of pieces. */
#ifndef DIGEST_H
#define DIGEST_H
typedef struct { unsigned long state[5]; unsigned long count[2]; unsigned char buffer[64]; } DIGEST_CTX;
void DigestInit(DIGEST_CTX* context);
void DigestUpdate(DIGEST_CTX* context, unsigned char* data, unsigned int len);
void DigestFinal(unsigned char digest[20], DIGEST_CTX* context);
#endif
