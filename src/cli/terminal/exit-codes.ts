/** The meaning of each exit code, the same for every command; `help exit-codes` prints this table. */
export const exitCodes = {
  ok: { code: 0, when: 'Success; an empty list; help; version; output pipe closed by its reader' },
  failure: {
    code: 1,
    when: 'Unexpected error; 5xx after all retries; invalid response; operation not supported by the platform; failed doctor check; confirmation declined; 405, 421',
  },
  usage: {
    code: 2,
    when: 'Wrong flag, argument, choice or input file; 400, 413, 414, 415, 422, 431; input required, but prompts are disabled',
  },
  notFound: { code: 3, when: 'Resource not found (404)' },
  auth: { code: 4, when: 'No credential; 401; expired key; failed sign-in; ended session' },
  forbidden: { code: 5, when: 'Any other 403' },
  conflict: {
    code: 6,
    when: '409, 412; Idempotency-Key already used for another request; a plan that no longer fits; --max-deletes',
  },
  unavailable: {
    code: 7,
    when: 'Network, DNS or TLS failure; timeout; response cut short; 429 or 503 after all retries',
  },
  partial: { code: 8, when: 'Some items of a batch failed' },
  drift: { code: 9, when: 'diff or courses diff found changes' },
  notRun: { code: 126, when: 'server exec: the command cannot be run' },
  noCommand: { code: 127, when: 'server exec: the command was not found' },
  interrupted: { code: 130, when: 'Ctrl-C (SIGINT), after clean-up' },
  terminated: { code: 143, when: 'SIGTERM, or SIGHUP from a terminal that closes, after clean-up' },
} as const

export type ExitName = keyof typeof exitCodes

/** Returns the number of an exit code. */
export function exitCode(name: ExitName): number {
  return exitCodes[name].code
}
