/** Milliseconds that never go back; `performance` would be loaded for them. */
export function runningMs(): number {
  return process.uptime() * 1000
}
