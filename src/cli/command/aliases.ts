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
  show: ['get'],
  get: ['show'],
  view: ['get', 'show'],
  add: ['create'],
  new: ['create', 'add'],
  create: ['add'],
  edit: ['update', 'set'],
  set: ['update'],
  rm: ['delete', 'remove', 'revoke'],
  remove: ['delete', 'revoke'],
  delete: ['remove', 'revoke'],
  switch: ['use'],
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

/** The aliases among verbs, each with the verb of `names` that it stands for: none stands in a verb's own place. */
export function verbsByAlias(names: readonly string[]): Map<string, string> {
  const meant = Object.entries(verbAliases).flatMap(([alias, verbs]): [string, string][] => {
    const verb = names.includes(alias) ? undefined : verbs.find((each) => names.includes(each))
    return verb === undefined ? [] : [[alias, verb]]
  })
  return new Map(meant)
}
