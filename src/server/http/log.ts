/** Without query, headers and body, which may contain secrets. */
export interface LogEntry {
  readonly time: string
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly userId?: string | undefined
  /** Id of the credential, or `local`. */
  readonly credential?: string | undefined
  readonly code?: string | undefined
  readonly cause?: unknown
}

/** One line of JSON, LF included. */
export function logLine(entry: LogEntry): string {
  const { time, requestId, method, path, status, durationMs, userId, credential, code, cause } = entry
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
  // The cause of a client's error may quote the body.
  const error = status >= 500 && cause instanceof Error ? (cause.stack ?? cause.message) : undefined
  const rounded = Math.round(durationMs * 100) / 100
  const who = {
    level,
    time,
    requestId,
    method,
    path,
    userId,
    credential,
    code,
    status,
    durationMs: rounded,
    error,
  }
  return `${JSON.stringify(who)}\n`
}

const masked = '***'

/** In OneRoster, ids of people are their external ids, and those of enrolments and results contain them. */
const oneRosterPath = /^\/+ims\/oneroster\//i
const personSteps = ['users', 'students', 'teachers', 'demographics', 'enrollments', 'results']

/**
 * Masks what names a person in a path, because a log outlives the people in it: references by e-mail address or external id,
 * everything else that looks like an e-mail address, and the ids of people in OneRoster. The address of a calendar is a secret.
 */
export function loggedPath(path: string): string {
  // A quick test, because each request is logged and nearly no path has names.
  if (/^\/+calendars\//i.test(path)) return `/calendars/${masked}`
  const isOneRoster = oneRosterPath.test(path)
  if (!isOneRoster && !/@|%40|:|%3a/i.test(path)) return path
  const steps = path.split('/')
  return steps
    .map((step, at) => {
      const before = steps[at - 1] ?? ''
      if (isOneRoster && personSteps.includes(before)) return masked
      const [, kind] = /^(email|ext)(?::|%3a)/i.exec(step) ?? []
      if (kind === 'email' || (kind === 'ext' && ['users', 'learners'].includes(before)))
        return `${kind}:${masked}`
      return /@|%40/.test(step) ? masked : step
    })
    .join('/')
}
