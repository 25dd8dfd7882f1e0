/**
 * Returns the SQLSTATE of an error of PostgreSQL (Appendix A); undefined for other errors, such as those of the
 * network, whose codes may look the same.
 */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
