/**
 * The five characters by which PostgreSQL says what went wrong (PostgreSQL, Appendix A); undefined for what came from
 * anywhere else, such as the network, whose codes may look the same.
 */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
