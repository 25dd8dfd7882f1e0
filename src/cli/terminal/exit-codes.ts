/** What every exit code means, for every command alike; `help exit-codes` prints this table. */
export const exitCodes = {
  ok: { code: 0, when: 'success, an empty list, help, version, the reader of the output went away' },
  failure: {
    code: 1,
    when: "unexpected; 5xx after all attempts; an answer that is not the API's; an operation that is not offered; a failed doctor; 405, 421",
  },
  usage: {
    code: 2,
    when: 'a wrong flag, argument, choice or input file; 400, 413, 414, 415, 422; a question was needed but may not be asked',
  },
  notFound: { code: 3, when: '404 on something named' },
  auth: {
    code: 4,
    when: 'no credential, 401, an expired key, a sign-in that failed, a session that has ended',
  },
  forbidden: { code: 5, when: 'any other 403' },
  conflict: { code: 6, when: '409, 412, a used Idempotency-Key, a stale plan, a guard that was hit' },
  unavailable: {
    code: 7,
    when: 'network, DNS, TLS, time-out, an answer cut short, 429 or 503 beyond the retries',
  },
  partial: { code: 8, when: 'bulk work: some rows failed' },
  drift: { code: 9, when: 'diff found changes' },
  interrupted: { code: 130, when: 'Ctrl-C (SIGINT), after clean-up' },
  terminated: { code: 143, when: 'SIGTERM, after clean-up' },
} as const

export type ExitName = keyof typeof exitCodes

/** The number of an exit code by its name. */
export function exitCode(name: ExitName): number {
  return exitCodes[name].code
}
