import type { Operation } from '../../contract/operation.ts'

/** What platforms call the things of each resource, the API's own word first. */
const words: Readonly<Record<string, readonly string[]>> = {
  course: ['course'],
  lesson: ['lesson'],
  user: ['user', 'learner', 'student', 'member', 'account', 'profile'],
  learner: ['learner', 'user', 'student', 'member', 'account'],
  enrollment: ['enrollment', 'enrolment'],
  grade: ['grade', 'score', 'mark'],
  progress: ['progress', 'learnerProgress', 'courseProgress'],
  key: ['key', 'apiKey'],
  app: ['app', 'application', 'client'],
  endpoint: ['endpoint', 'webhook', 'subscription', 'hook'],
  message: ['message', 'event', 'delivery'],
  delivery: ['delivery', 'event'],
  entry: ['entry', 'auditEntry', 'event', 'record', 'log'],
  row: ['row', 'learner', 'record', 'student', 'user'],
}

const nouns: Readonly<Record<string, string>> = {
  analytics: 'row',
  progress: 'progress',
  audit: 'entry',
  deliveries: 'delivery',
}

/** The noun of an operation's things: `course` for `courses.list`, `row` for the rows of analytics. */
export function nounOf({ id }: Pick<Operation, 'id'>): string {
  // A path stands for an operation that is not declared.
  const group = id.split('.')[0]?.split('/').at(-1) ?? ''
  return nouns[group] ?? group.replace(/s$/, '')
}

/** What platforms call a thing of this noun. */
export function wordsOf(noun: string | undefined): readonly string[] {
  return noun === undefined ? [] : (words[noun] ?? [noun])
}

/** What platforms call a list of what an operation answers: `courses`, `learners`, `versions`. */
export function listNamesOf({ id, path }: Pick<Operation, 'id' | 'path'>): readonly string[] {
  const said = [path.split('/').at(-1) ?? '', id.split('.')[1] ?? '']
  return [...said, ...wordsOf(nounOf({ id })).flatMap((word) => [`${word}s`, word, `${word}List`])]
}

/**
 * Other names under which platforms keep a field, without case and separators, most telling first. What differs only
 * in those (`created_at` for `createdAt`) needs no entry.
 */
export const otherNames: Readonly<Record<string, readonly string[]>> = {
  id: ['uuid', 'guid', 'insertedid'],
  createdat: ['created', 'createdon', 'insertedat', 'datecreated'],
  updatedat: ['updated', 'updatedon', 'modifiedat', 'lastmodified'],
  learnerid: ['userid', 'studentid'],
  userid: ['learnerid', 'studentid'],
  completionpercentage: ['completionpercent', 'percentcomplete', 'progresspercentage', 'progresspercent'],
  lastaccessed: ['lastaccessedat', 'lastaccess', 'lastactivity', 'lastactivityat'],
  version: ['lockversion', 'revision'],
  email: ['emailaddress'],
  title: ['name'],
}

/** A name without case and separators: `created_at`, `createdAt` and `CreatedAt` are one. */
export function bareName(name: string): string {
  const known = bareNames.get(name)
  if (known !== undefined) return known
  const bare = name.replace(/[_\-\s]/g, '').toLowerCase()
  if (bareNames.size < maximumBareNames) bareNames.set(name, bare)
  return bare
}

/** Every row of a list has the same names. */
const bareNames = new Map<string, string>()
const maximumBareNames = 10_000
