import { colourModes, formats } from '../../config/setting.ts'
import { nounsByAlias, shortcuts, verbsByAlias } from '../command/aliases.ts'
import { type Noun, schemaFlag, showsSchema } from '../command/command.ts'
import { schemaMeaning } from '../help/help-text.ts'
import { argumentAt, type CursorPlace, flagNamed, type KnownFlag } from './cursor-place.ts'

export interface Suggestion {
  readonly value: string
  readonly meaning: string
}

/** The suggestions at the cursor: words, or files, which the shell completes itself. */
export interface Suggestions {
  readonly found: readonly Suggestion[]
  readonly files: boolean
  /** True if the word continues after the suggestion. */
  readonly isOpen: boolean
}

/** Kinds of records by the names of arguments and flags. */
const things = {
  course: 'courses',
  lesson: 'lessons',
  module: 'modules',
  group: 'groups',
  user: 'users',
  learner: 'users',
  term: 'terms',
  enrollment: 'enrollments',
  grade: 'grades',
  key: 'keys',
  app: 'apps',
  grant: 'grants',
  endpoint: 'endpoints',
  message: 'messages',
  entry: 'audit',
  change: 'changes',
  delivery: 'deliveries',
  calendar: 'calendars',
  profile: 'profiles',
  'to-profile': 'profiles',
} as const
export const thingsByName: Readonly<Record<string, ThingNoun>> = things
/** Kinds of records that a word may refer to, of a platform or on this machine. */
export type ThingNoun = (typeof things)[keyof typeof things] | 'snapshots'

/** Finds records quickly; `typed` is the beginning of the reference. */
export type FindThings = (
  noun: ThingNoun,
  place: CursorPlace,
  typed: string,
  isDeleted?: boolean,
) => Promise<readonly Suggestion[]>

export const pathArguments = /^(files?|folder|directory|command|source|sides|target)$/

export interface Surroundings {
  readonly nouns: Readonly<Record<string, Noun>>
  readonly find: FindThings
  readonly cwd: string
}

const nothing: Suggestions = { found: [], files: false, isOpen: false }
const files: Suggestions = { ...nothing, files: true }
const shownSchema: Suggestion = { value: `--${schemaFlag}`, meaning: schemaMeaning }
const helpFlag: Suggestion = { value: '--help', meaning: 'Show help' }

export async function suggest(
  place: CursorPlace,
  current: string,
  around: Surroundings,
): Promise<Suggestions> {
  const all = await suggestAll(place, current, around)
  return { ...all, found: all.found.filter(({ value }) => value.startsWith(current)) }
}

async function suggestAll(place: CursorPlace, current: string, around: Surroundings): Promise<Suggestions> {
  const { nouns } = around
  const { awaiting, flags, command, noun, isAfterFlags } = place
  if (awaiting) return valuesOf(awaiting, place, current, around)
  if (!isAfterFlags && current.startsWith('-')) {
    const [, name = '', value] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? []
    const known = value === undefined ? undefined : flagNamed(flags, name)
    return known
      ? withFlagName(name, await valuesOf(known, place, value ?? '', around))
      : words(flagWords(place))
  }
  if (noun === null) return words(nounWords(nouns, current))
  if (command === null) return words(verbWords(place, nouns[noun], current))
  const argument = argumentAt(command, place.given.length)
  if (argument) return argumentValues(argument.name, place, current, around)
  return isAfterFlags || current !== '' ? nothing : words(flagWords(place, true))
}

function words(found: readonly Suggestion[]): Suggestions {
  return { ...nothing, found }
}

function withFlagName(name: string, all: Suggestions): Suggestions {
  return { ...all, found: all.found.map(({ value, meaning }) => ({ value: `${name}=${value}`, meaning })) }
}

/** Returns nouns; aliases only if nothing else matches. */
function nounWords(nouns: Readonly<Record<string, Noun>>, current: string): Suggestion[] {
  const own = Object.entries(nouns).map(([value, { summary }]) => ({ value, meaning: summary }))
  if (current === '' || own.some(({ value }) => value.startsWith(current))) return own
  const others = [
    ...Object.entries(shortcuts).map(([value, path]) => ({ value, meaning: path.join(' ') })),
    ...Object.entries(nounsByAlias(Object.keys(nouns))).map(([value, name]) => ({
      value,
      meaning: nouns[name]?.summary ?? name,
    })),
  ]
  return [...own, ...others]
}

function verbWords({ commands, group }: CursorPlace, noun: Noun | undefined, current: string): Suggestion[] {
  const own = new Map<string, string>()
  for (const { name, summary, unlisted } of commands) {
    if (unlisted) continue
    const [word = '', inner] = name.slice(group.length).split(' ')
    const meaning = inner === undefined ? summary : (noun?.groups?.[group + word] ?? '')
    if (!own.has(word)) own.set(word, meaning)
  }
  const found = [...own].map(([value, meaning]) => ({ value, meaning }))
  if (current === '' || found.some(({ value }) => value.startsWith(current))) return found
  return [...verbsByAlias([...own.keys()], true)].map(([value, meaning]) => ({ value, meaning }))
}

/** Returns the unused flags, required ones first; `onlyOwn` leaves out global flags. */
function flagWords({ flags, values, command }: CursorPlace, onlyOwn = false): Suggestion[] {
  const left = flags.filter(
    ({ flag, isRepeatable, setting }) =>
      (isRepeatable || !values.has(flag.name)) && !(onlyOwn && setting !== null),
  )
  return [...left.filter(({ required }) => required), ...left.filter(({ required }) => !required)]
    .flatMap(({ names, flag, required }) =>
      names.map((value) => ({ value, meaning: required ? `${flag.summary} (required)` : flag.summary })),
    )
    .concat(onlyOwn ? [] : [...(command && showsSchema(command) ? [shownSchema] : []), helpFlag])
}

async function argumentValues(
  name: string,
  place: CursorPlace,
  current: string,
  { nouns, find }: Surroundings,
): Promise<Suggestions> {
  const { noun, command, given } = place
  const [first] = given
  if (noun === 'help') return words(await helpWords(given, nouns))
  if (noun === 'api') return words(await requestWords(given, place, current, find))
  if (noun === 'completion')
    return words(((command && argumentAt(command, 0)?.choices) ?? []).map(plainSuggestion))
  if (noun === 'profiles' && name === 'name' && command?.name !== 'add')
    return words(await find('profiles', place, current))
  if (noun === 'server' && name === 'name' && command?.name !== 'snapshot save') {
    return words(await find('snapshots', place, current))
  }
  if (noun === 'analytics' && name === 'table') {
    const { tables } = await import('../../tables/dictionary.ts')
    return words(tables.map((table) => plainSuggestion(table.name)))
  }
  const choices = (command && argumentAt(command, given.length)?.choices) ?? []
  if (choices.length > 0) return words(choices.map(plainSuggestion))
  if (noun === 'open' && first === 'course') return words(await find('courses', place, current))
  if (noun === 'integrations' && name === 'reference') {
    return words(await find(given[1] === 'user' ? 'users' : 'courses', place, current))
  }
  const thing = thingsByName[name]
  if (thing && command && /^restore(-deleted)?$/.test(command.name)) {
    const deleted = await find(thing, place, current, true)
    // A version of a course that is not deleted can be restored, too.
    return words(deleted.length > 0 ? deleted : await find(thing, place, current))
  }
  if (thing) return words(await find(thing, place, current))
  return pathArguments.test(name) ? files : nothing
}

function plainSuggestion(value: string): Suggestion {
  return { value, meaning: '' }
}

async function helpWords(
  given: readonly string[],
  nouns: Readonly<Record<string, Noun>>,
): Promise<Suggestion[]> {
  if (given.length > 0) return []
  const { topics } = await import('../help/help-topics.ts')
  const about = Object.entries(topics).map(([value, { summary }]) => ({ value, meaning: summary }))
  return [...about, ...nounWords(nouns, '')]
}

/** Returns the names of operations, then the parameters of the path. */
async function requestWords(
  given: readonly string[],
  place: CursorPlace,
  current: string,
  find: FindThings,
): Promise<readonly Suggestion[]> {
  const { operations } = await import('../operation/operations.ts')
  const [id] = given
  if (id === undefined) {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(plainSuggestion)
    return [...operations.map(({ id, summary }) => ({ value: id, meaning: summary })), ...methods]
  }
  const path = operations.find((operation) => operation.id === id)?.path ?? ''
  const parameter = [...path.matchAll(/\{(\w+)Id\}/g)][given.length - 1]?.[1] ?? ''
  const thing = thingsByName[parameter]
  return thing ? find(thing, place, current) : []
}

/** In a list, each value comes after the items before it. */
async function valuesOf(
  known: KnownFlag,
  place: CursorPlace,
  current: string,
  { find, cwd }: Surroundings,
): Promise<Suggestions> {
  const { isList, placeholder, flag } = known
  const before = isList ? current.slice(0, current.lastIndexOf(',') + 1) : ''
  const choices = choicesOf(known, place)
  if (choices.length > 0) {
    const used = before.split(',')
    const found = choices
      .filter((choice) => !used.includes(choice))
      .map((choice) => ({ value: `${before}${choice}`, meaning: '' }))
    return { ...nothing, found, isOpen: isList }
  }
  const thing = thingsByName[flag.name] ?? thingsByName[placeholder]
  if (thing) return words(await find(thing, place, current))
  if (/^(file|path)|file$/.test(placeholder) && !placeholder.startsWith('@')) return files
  return placeholder.includes('@file') ? { ...words(await atFiles(current, cwd)), isOpen: true } : nothing
}

function choicesOf({ flag, placeholder, setting }: KnownFlag, { command }: CursorPlace): readonly string[] {
  if (flag.choices) return flag.choices
  if (setting === 'output') return formats
  if (setting === 'color') return colourModes
  if (setting === 'columns') return command?.calls?.columns ?? []
  if (flag.name === 'unset') return command?.calls?.fields.map((field) => field.flag.name) ?? []
  return placeholder === 'zone' ? Intl.supportedValuesOf('timeZone') : []
}

/** Returns the files for a path after `@`, which no shell completes. */
async function atFiles(current: string, cwd: string): Promise<Suggestion[]> {
  if (!current.startsWith('@')) return [plainSuggestion('@'), plainSuggestion('-')]
  const [{ readdirSync }, { resolve }] = await Promise.all([import('node:fs'), import('node:path')])
  const folder = /^@(.*\/)?/s.exec(current)?.[1] ?? ''
  return readdirSync(resolve(cwd, folder), { withFileTypes: true }).map((entry) =>
    plainSuggestion(`@${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`),
  )
}
