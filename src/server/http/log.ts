import type { Database } from '../database/database.ts'
import { resolve } from '../database/reference.ts'

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
  /** Cause of an internal error. */
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
 * Replaces users in a path by their ids, and masks unknown ones and everything else that looks like an email
 * address, because a log outlives the users in it. The address of a calendar is a secret.
 */
export function loggedPath(database: Database, path: string): string | Promise<string> {
  // A quick test, because each request is logged and nearly no path has names.
  if (/^\/+calendars\//i.test(path)) return `/calendars/${masked}`
  return /@|%40|:|%3a/i.test(path) || oneRosterPath.test(path) ? replaceNames(database, path) : path
}

async function replaceNames(database: Database, path: string): Promise<string> {
  const parts = path.split('/')
  const isOneRoster = oneRosterPath.test(path)
  const logged = parts.map((part, index) => {
    const before = parts[index - 1] ?? ''
    return isOneRoster && personSteps.includes(before)
      ? loggedPerson(database, part)
      : loggedStep(database, part, before)
  })
  return (await Promise.all(logged)).join('/')
}

/** Returns the logged form of the id of a person in OneRoster. */
async function loggedPerson(database: Database, part: string): Promise<string> {
  return (await findUserId(database, decoded(part))) ?? masked
}

/** `before` is the step before it. */
async function loggedStep(database: Database, part: string, before: string): Promise<string> {
  const text = decoded(part)
  const named = /^email:/.test(text) || (/^ext:/.test(text) && ['users', 'learners'].includes(before))
  if (named) return (await findUserId(database, text)) ?? `${text.slice(0, text.indexOf(':'))}:${masked}`
  return text.includes('@') ? masked : part
}

async function findUserId(database: Database, reference: string): Promise<string | undefined> {
  try {
    return await resolve(database, 'users', reference)
  } catch {
    // Log the request even if the database fails.
    return undefined
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part.replaceAll(/%40/g, '@')
  }
}
