export const nounSynonyms: Readonly<Record<string, string>> = {
  enrolment: 'enrollments',
  enrolments: 'enrollments',
}

export function nounsByAlias(names: readonly string[]): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(singulars(names)), ...nounSynonyms }
}

/** `progress` and `analytics` are no plurals. */
function singulars(words: readonly string[]): [singular: string, plural: string][] {
  return words
    .filter((word) => /s$/.test(word) && !/(ss|ics)$/.test(word))
    .map((word) => [word.replace(/ies$/, 'ys').replace(/s$/, ''), word])
}

export const shortcuts: Readonly<Record<string, readonly [noun: string, verb: string]>> = {
  login: ['auth', 'login'],
  logout: ['auth', 'logout'],
  whoami: ['auth', 'status'],
}

/** An alias stands for the first of these verbs that the noun has. */
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
 * Maps the aliases of verbs and the singulars of groups to the words in `names`; an alias never hides one. `listed` leaves out unlisted
 * aliases.
 */
export function verbsByAlias(names: readonly string[], listed = false): Map<string, string> {
  const words = listed ? verbAliases : { ...verbAliases, ...unlistedVerbs }
  const entries = Object.entries(words).flatMap(([alias, verbs]): [string, string][] => {
    const verb = names.includes(alias) ? undefined : verbs.find((each) => names.includes(each))
    return verb === undefined ? [] : [[alias, verb]]
  })
  const others = listed ? [] : singulars(names).filter(([word]) => !names.includes(word))
  return new Map([...others, ...entries])
}
