/** What people type for a noun, by that word. */
export const nounAliases: Readonly<Record<string, string>> = {
  course: 'courses',
  lesson: 'lessons',
  user: 'users',
  enrollment: 'enrollments',
  enrolment: 'enrollments',
  enrolments: 'enrollments',
  profile: 'profiles',
  key: 'keys',
  app: 'apps',
}

/** Single words for whole commands, each with the command's own words. */
export const shortcuts: Readonly<Record<string, readonly [noun: string, verb: string]>> = {
  login: ['auth', 'login'],
  logout: ['auth', 'logout'],
  whoami: ['auth', 'status'],
}

/** What people type for a verb, with the verbs that it may mean: the first that a noun has. */
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

/** Former words for verbs, and for the words before them; they are accepted in the same way, but not listed. */
export const unlistedVerbs: Readonly<Record<string, readonly string[]>> = {
  show: ['get'],
  remove: ['delete', 'revoke'],
  delete: ['revoke'],
  resend: ['replay'],
  inbox: ['deliveries'],
}

/** Verbs that destroy something or replace it: none of them is ever suggested for a word that is not known. */
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

/** True for a command or an operation that ends in such a verb: `delete`, `grants revoke`, `courses.delete`. */
export function isDestructive(name: string): boolean {
  return destructiveVerbs.some((verb) => new RegExp(`(^|[ .-])${verb}$`, 'i').test(name))
}

/** What people type for a flag that is called otherwise here, each with what to type instead. */
export const flagHabits: Readonly<Record<string, string>> = {
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
  '--name': '--title',
  '-f': '--file',
  '-n': '--limit',
  '-v': '--debug',
  '-y': '--yes',
}

/**
 * The other words for verbs, each with the verb of `names` that it stands for: none stands in a verb's own place.
 * `listed` leaves out those that are accepted without being listed.
 */
export function verbsByAlias(names: readonly string[], listed = false): Map<string, string> {
  const words = listed ? verbAliases : { ...verbAliases, ...unlistedVerbs }
  const meant = Object.entries(words).flatMap(([alias, verbs]): [string, string][] => {
    const verb = names.includes(alias) ? undefined : verbs.find((each) => names.includes(each))
    return verb === undefined ? [] : [[alias, verb]]
  })
  return new Map(meant)
}
