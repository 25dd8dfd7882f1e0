import type { Database } from '../database/database.ts'
import { resolve } from '../database/reference.ts'

const unknown = '***'

/**
 * A path as it is logged: a user who is named by address or external id stands there by id, or masked where there is
 * none; so does anything else that looks like an address. A log outlives what it is about.
 */
export function loggedPath(database: Database, path: string): string | Promise<string> {
  // Nearly all paths have neither, and each request comes through here.
  return /@|%40|:|%3a/i.test(path) ? withoutNames(database, path) : path
}

async function withoutNames(database: Database, path: string): Promise<string> {
  const parts = path.split('/')
  const logged = parts.map((part, index) => loggedPart(database, part, parts[index - 1] ?? ''))
  return (await Promise.all(logged)).join('/')
}

async function loggedPart(database: Database, part: string, before: string): Promise<string> {
  const text = decoded(part)
  const named = /^email:/.test(text) || (/^ext:/.test(text) && ['users', 'learners'].includes(before))
  if (named) return (await userBehind(database, text)) ?? `${text.slice(0, text.indexOf(':'))}:${unknown}`
  return text.includes('@') ? unknown : part
}

async function userBehind(database: Database, reference: string): Promise<string | undefined> {
  try {
    return await resolve(database, 'users', reference)
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
