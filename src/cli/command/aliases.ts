/** Accepted synonyms of nouns. */
export const nounAliases: Readonly<Record<string, string>> = {
  course: 'courses',
  lesson: 'lessons',
  user: 'users',
  group: 'groups',
  enrollment: 'enrollments',
  enrolment: 'enrollments',
  enrolments: 'enrollments',
  profile: 'profiles',
  key: 'keys',
  app: 'apps',
}

/** Single words for complete commands. */
export const shortcuts: Readonly<Record<string, readonly [noun: string, verb: string]>> = {
  login: ['auth', 'login'],
  logout: ['auth', 'logout'],
  whoami: ['auth', 'status'],
}

/** Accepted synonyms of verbs, each with the verbs it may mean: the first that the noun has is used. */
export const verbAliases: Readonly<Record<string, readonly string[]>> = {
  ls: ['list'],
  view: ['get'],
  add: ['create'],
  new: ['create', 'add'],
  create: ['add'],
  edit: ['update', 'set'],
  set: ['update'],
  rm: ['delete', 'revoke'],
  switch: ['use'],
}

/** Former verbs, and former words before verbs; accepted but not listed. */
const unlistedVerbs: Readonly<Record<string, readonly string[]>> = {
  show: ['get'],
  remove: ['delete', 'revoke'],
  delete: ['revoke'],
  resend: ['replay'],
  inbox: ['deliveries'],
}

/** Verbs that delete or replace data. They are never suggested for an unknown word. */
const destructiveVerbs = [
  'delete',
  'remove',
  'rm',
  'revoke',
  'reset',
  'restore',
  'erase',
  'unmap',
  'rotate',
  'archive',
]

/** True for a command or operation that ends in a destructive verb: `delete`, `grants revoke`, `courses.delete`. */
export function isDestructive(name: string): boolean {
  return destructiveVerbs.some((verb) => new RegExp(`(^|[ .-])${verb}$`, 'i').test(name))
}

/** Flags of other tools or commands, each with the flags to suggest instead: the first that the command has. */
export const flagHabits: Readonly<Record<string, string | readonly string[]>> = {
  '--json': '-o json',
  '--jsonl': '-o jsonl',
  '--csv': '-o csv',
  '--yaml': '-o yaml',
  '--format': '--output',
  '--fields': '--columns',
  '--force': '--yes',
  '--no-color': '--color never',
  '--no-colour': '--color never',
  '--verbose': '--debug',
  '--page-size': '--limit',
  '--name': ['--title', '--search'],
  '--title': '--search',
  '--query': '--search',
  '-f': '--file',
  '-n': '--limit',
  '-v': '--debug',
  '-y': '--yes',
}

/**
 * Maps the aliases of verbs to the verbs in `names`; an alias never hides a verb. `listed` leaves out unlisted
 * aliases.
 */
export function verbsByAlias(names: readonly string[], listed = false): Map<string, string> {
  const words = listed ? verbAliases : { ...verbAliases, ...unlistedVerbs }
  const entries = Object.entries(words).flatMap(([alias, verbs]): [string, string][] => {
    const verb = names.includes(alias) ? undefined : verbs.find((each) => names.includes(each))
    return verb === undefined ? [] : [[alias, verb]]
  })
  return new Map(entries)
}
