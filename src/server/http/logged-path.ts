import type { Database } from '../database/database.ts'
import { resolve } from '../database/reference.ts'

const unknown = '***'

/**
 * A path as it is logged: a user who is named by address or external id stands there by id, or masked where there is
 * none; so does anything else that looks like an address. A log outlives what it is about.
 */
export function loggedPath(database: Database, path: string): string {
  // Nearly all paths have neither, and each request comes through here.
  if (!/@|%40|:|%3a/i.test(path)) return path
  const parts = path.split('/')
  return parts.map((part, index) => loggedPart(database, part, parts[index - 1] ?? '')).join('/')
}

function loggedPart(database: Database, part: string, before: string): string {
  const text = decoded(part)
  const named = /^email:/.test(text) || (/^ext:/.test(text) && ['users', 'learners'].includes(before))
  if (named) return userBehind(database, text) ?? `${text.slice(0, text.indexOf(':'))}:${unknown}`
  return text.includes('@') ? unknown : part
}

function userBehind(database: Database, reference: string): string | undefined {
  try {
    return resolve(database, 'users', reference)
  } catch {
    // A log line is written whatever the database does.
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
