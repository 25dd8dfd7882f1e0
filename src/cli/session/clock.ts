const toleratedMs = 60_000

/**
 * How far this machine's clock is off, by the `Date` of an answer that has just come: whole seconds, above 0 where it
 * is ahead of the server's; null where the server does not say.
 */
export function secondsAhead(date: string | null, nowMs: number): number | null {
  const serverMs = Date.parse(date ?? '')
  return Number.isNaN(serverMs) ? null : Math.round((nowMs - serverMs) / 1000)
}

/** What to say about a clock that is off by more than a minute; null where it is not. */
export function clockWarning(seconds: number): string | null {
  if (Math.abs(seconds) * 1000 <= toleratedMs) return null
  const way = seconds > 0 ? 'ahead of' : 'behind'
  const minutes = Math.round(Math.abs(seconds) / 60)
  const span = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `The clock of this machine is ${span} ${way} the server; correct it`
}
