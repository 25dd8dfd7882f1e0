const maxSkewMs = 60_000

/** `date` is the header of a response just received; null without one. */
export function secondsAhead(date: string | null, nowMs: number): number | null {
  const serverMs = Date.parse(date ?? '')
  return Number.isNaN(serverMs) ? null : Math.round((nowMs - serverMs) / 1000)
}

/** Null for up to a minute. */
export function clockWarning(seconds: number): string | null {
  if (Math.abs(seconds) * 1000 <= maxSkewMs) return null
  const way = seconds > 0 ? 'ahead of' : 'behind'
  const minutes = Math.round(Math.abs(seconds) / 60)
  const span = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `The clock of this machine is ${span} ${way} the server; correct it`
}
