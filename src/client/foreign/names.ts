import type { Operation } from '../../contract/operation.ts'

/** Names that platforms use for each resource, the API's own first. */
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

/** Returns the noun of an operation's records: `course` for `courses.list`, `row` for the rows of analytics. */
export function nounOf({ id }: Pick<Operation, 'id'>): string {
  // An undeclared operation has a path as its id.
  const group = id.split('.')[0]?.split('/').at(-1) ?? ''
  return nouns[group] ?? group.replace(/s$/, '')
}

/** Returns the names that platforms use for a noun. */
export function wordsOf(noun: string | undefined): readonly string[] {
  return noun === undefined ? [] : (words[noun] ?? [noun])
}

/** Returns the names that platforms use for the list of an operation: `courses`, `learners`, `versions`. */
export function listNamesOf({ id, path }: Pick<Operation, 'id' | 'path'>): readonly string[] {
  const said = [path.split('/').at(-1) ?? '', id.split('.')[1] ?? '']
  return [...said, ...wordsOf(nounOf({ id })).flatMap((word) => [`${word}s`, word, `${word}List`])]
}

/**
 * Other names of a field on platforms, in lower case without separators, the most specific first. Names that differ only
 * in those (`created_at` for `createdAt`) need no entry.
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

/** Returns a name in lower case without separators: the same for `created_at`, `createdAt` and `CreatedAt`. */
export function bareName(name: string): string {
  const known = bareNames.get(name)
  if (known !== undefined) return known
  const bare = name.replace(/[_\-\s]/g, '').toLowerCase()
  if (bareNames.size < maxBareNames) bareNames.set(name, bare)
  return bare
}

/** Cache of bare names: all rows of a list have the same names. */
const bareNames = new Map<string, string>()
const maxBareNames = 10_000
