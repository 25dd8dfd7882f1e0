/** A clock that differs by less is right enough for codes that last a minute. */
const longestMs = 5000

/**
 * What the log says of a clock that is wrong, here or at the database, LF included; nothing where both are right.
 *
 * @param aheadMs how far the clock of this machine is ahead, negative where it is behind
 */
export function clockText(aheadMs: number, forPeople: boolean): string {
  if (Math.abs(aheadMs) <= longestMs) return ''
  const seconds = Math.round(aheadMs / 1000)
  if (!forPeople) {
    return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), clockAheadSeconds: seconds })}\n`
  }
  const where = seconds > 0 ? 'ahead of' : 'behind'
  return `The clock of this machine is ${Math.abs(seconds)} s ${where} the clock of the database: synchronise both, or other servers may refuse sign-in codes\n`
}
