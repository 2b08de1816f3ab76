/* Which letters there are. */
#ifdef __cplusplus
extern "C" {
int is_letter(int c);
}
#else
int is_letter();
#endif
