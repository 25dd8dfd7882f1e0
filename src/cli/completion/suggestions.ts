import type { Profiles } from '../../config/profiles.ts'
import { colourModes, formats, type Setting, type SettingName, settings } from '../../config/setting.ts'
import type { Operation } from '../../contract/operation.ts'
import { nounsByAlias, shortcuts, verbsByAlias } from '../command/aliases.ts'
import {
  type Argument,
  type Command,
  type Host,
  type Noun,
  schemaFlag,
  showsSchema,
} from '../command/command.ts'
import { type Flag, isRepeatable, placeholders } from '../command/flag.ts'
import { schemaMeaning } from '../help/help-text.ts'
import type { Io } from '../terminal/io.ts'

export interface Suggestion {
  readonly value: string
  readonly meaning: string
}

/** Files are completed by the shell. */
export interface Suggestions {
  readonly found: readonly Suggestion[]
  readonly files: boolean
  readonly isOpen: boolean
}

const profileNames = ['profile', 'to-profile']

export const pathArguments = /^(files?|folder|directory|command|source|sides|target)$/

export interface Surroundings {
  readonly nouns: Readonly<Record<string, Noun>>
  readonly io: Io
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
  if (argument) return argumentValues(argument.name, place, around)
  return isAfterFlags || current !== '' ? nothing : words(flagWords(place, true))
}

function words(found: readonly Suggestion[]): Suggestions {
  return { ...nothing, found }
}

function withFlagName(name: string, all: Suggestions): Suggestions {
  return { ...all, found: all.found.map(({ value, meaning }) => ({ value: `${name}=${value}`, meaning })) }
}

/** Aliases only if nothing else matches. */
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
  { nouns, io }: Surroundings,
): Promise<Suggestions> {
  const { noun, command, given } = place
  if (noun === 'help') return words(await helpWords(given, nouns))
  if (noun === 'api') return words(given.length === 0 ? await requestWords() : [])
  if (noun === 'profiles' && name === 'name' && command?.name !== 'add') return words(await findProfiles(io))
  if (noun === 'server' && name === 'name' && command?.name !== 'snapshot save') {
    return words(await findSnapshots(io, place))
  }
  if (noun === 'analytics' && name === 'table') {
    const { tables } = await import('../../tables/dictionary.ts')
    return words(tables.map((table) => plainSuggestion(table.name)))
  }
  const choices = (command && argumentAt(command, given.length)?.choices) ?? []
  if (choices.length > 0) return words(choices.map(plainSuggestion))
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

async function requestWords(): Promise<readonly Suggestion[]> {
  const { calls } = await import('../../contract/calls.ts')
  const operations = Object.values(calls).flatMap((group) => Object.values<Operation>(group))
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(plainSuggestion)
  return [...operations.map(({ id, summary }) => ({ value: id, meaning: summary })), ...methods]
}

async function findProfiles(io: Io): Promise<Suggestion[]> {
  const { active, profiles } = await readProfiles(io)
  return Object.entries(profiles).map(([value, profile]) => {
    const at = 'database' in profile ? profile.database : profile.url
    return { value, meaning: active === value ? `${at} (active)` : at }
  })
}

async function readProfiles(io: Io): Promise<Profiles> {
  const [{ directoriesOf }, { createProfileStore }] = await Promise.all([
    import('../../config/directories.ts'),
    import('../../config/profiles.ts'),
  ])
  return createProfileStore(directoriesOf(io).config, io).read()
}

/** Returns the snapshots of the academy that the line names, else of that of quickstart. */
async function findSnapshots(io: Io, { values }: CursorPlace): Promise<Suggestion[]> {
  const [{ directoriesOf }, { readProjectFile, resolveSettings }, { chooseTarget }, { snapshotsOf }] =
    await Promise.all([
      import('../../config/directories.ts'),
      import('../../config/resolve-settings.ts'),
      import('../../config/choose-target.ts'),
      import('../local-server/served-database.ts'),
    ])
  const flags = { profile: values.get('profile')?.at(-1), database: values.get('database')?.at(-1) }
  const settings = resolveSettings({ flags, env: io.env, project: readProjectFile(io.cwd) })
  const target = chooseTarget({ settings, env: io.env, profiles: await readProfiles(io), cwd: io.cwd })
  const database = target?.kind === 'local' ? target.database : directoriesOf(io).database
  return snapshotsOf(database).map(({ name, createdAt }) => ({ value: name, meaning: createdAt }))
}

/** In a list, each value comes after the items before it. */
async function valuesOf(
  known: KnownFlag,
  place: CursorPlace,
  current: string,
  { io }: Surroundings,
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
  if (profileNames.includes(flag.name)) return words(await findProfiles(io))
  if (/^(file|path)|file$/.test(placeholder) && !placeholder.startsWith('@')) return files
  return placeholder.includes('@file') ? { ...words(await atFiles(current, io.cwd)), isOpen: true } : nothing
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

interface KnownFlag {
  /** With their dashes. */
  readonly names: readonly string[]
  readonly unlisted: readonly string[]
  readonly flag: Pick<Flag, 'name' | 'summary' | 'choices'>
  /** Empty for a switch. */
  readonly placeholder: string
  readonly isList: boolean
  readonly isRepeatable: boolean
  readonly required: boolean
  readonly setting: SettingName | null
}

interface CursorPlace {
  /** Null before the noun is complete. */
  readonly noun: string | null
  /** Commands that may follow the noun or the group, or the one that was named. */
  readonly commands: readonly Command[]
  readonly group: string
  readonly command: Command | null
  readonly given: readonly string[]
  readonly flags: readonly KnownFlag[]
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly awaiting: KnownFlag | null
  /** True after `--`. */
  readonly isAfterFlags: boolean
}

const globalFlags: readonly KnownFlag[] = Object.entries<Setting>(settings).map(([name, setting]) => ({
  names: [`--${setting.flag}`],
  unlisted: setting.short === undefined ? [] : [`-${setting.short}`],
  flag: { name: setting.flag, summary: setting.summary },
  placeholder: setting.placeholder ?? '',
  isList: setting.kind === 'names',
  isRepeatable: false,
  required: false,
  // The keys of the table are names of settings.
  setting: name as SettingName,
}))

function argumentAt({ arguments: positions = [] }: Command, index: number): Argument | undefined {
  return positions[index] ?? positions.find(({ rest }) => rest)
}

export async function parseWords(
  words: readonly string[],
  nouns: Readonly<Record<string, Noun>>,
  host: Host,
): Promise<CursorPlace | null> {
  const values = new Map<string, string[]>()
  const given: string[] = []
  let flags = globalFlags
  let [noun, group, command, awaiting]: [string | null, string, Command | null, KnownFlag | null] = [
    ...[null, '', null, null],
  ] as const
  let commands: readonly Command[] = []
  let isAfterFlags = false

  function choose(chosen: Command): void {
    command = chosen
    const refused = chosen.refuses ?? {}
    flags = [
      ...(chosen.flags ?? []).map(ownFlag),
      ...(chosen.arguments ?? []).flatMap((argument) => (argument.unlisted ? [argumentFlag(argument)] : [])),
      ...globalFlags.filter(({ setting }) => setting === null || !(setting in refused)),
    ]
  }

  function keep({ flag }: KnownFlag, value: string): void {
    values.set(flag.name, [...(values.get(flag.name) ?? []), value])
  }

  /** Enters the noun; a shortcut is a complete command. */
  async function enter(word: string): Promise<boolean> {
    const aliases: Readonly<Record<string, string | undefined>> = nounsByAlias(Object.keys(nouns))
    const [name, verb] = Object.hasOwn(shortcuts, word) ? (shortcuts[word] ?? []) : [aliases[word] ?? word]
    if (name === undefined || !Object.hasOwn(nouns, name)) return false
    noun = name
    const loaded = (await nouns[name]?.load(host)) ?? []
    if (!('length' in loaded)) choose(loaded)
    else commands = loaded
    const whole = commands.find((each) => each.name === verb)
    if (whole) choose(whole)
    return true
  }

  function step(word: string): boolean {
    const next = commands.map(({ name }) => name.slice(group.length).split(' ')[0] ?? '')
    const name = `${group}${verbsByAlias(next).get(word) ?? word}`
    const found = commands.find((each) => each.name === name)
    if (found) choose(found)
    else {
      group = `${name} `
      commands = commands.filter((each) => each.name.startsWith(group))
    }
    return found !== undefined || commands.length > 0
  }

  for (const word of words) {
    if (awaiting) {
      keep(awaiting, word)
      awaiting = null
    } else if (!isAfterFlags && word === '--') isAfterFlags = true
    else if (!isAfterFlags && /^-./.test(word)) {
      const [name = '', ...value] = word.split('=')
      const known = flagNamed(flags, name)
      if (known && value.length > 0) keep(known, value.join('='))
      else if (known?.placeholder) awaiting = known
      else if (known) keep(known, '')
    } else if (noun === null) {
      if (!(await enter(word))) return null
    } else if (command === null) {
      if (!step(word)) return null
    } else given.push(word)
  }
  return { noun, commands, group, command, given, flags, values, awaiting, isAfterFlags }
}

function flagNamed(flags: readonly KnownFlag[], name: string): KnownFlag | undefined {
  return flags.find(({ names, unlisted }) => names.includes(name) || unlisted.includes(name))
}

function ownFlag(flag: Flag): KnownFlag {
  const { name, short, unlisted = [], kind, negatable } = flag
  return {
    names: [`--${name}`, ...(negatable ? [`--no-${name}`] : [])],
    unlisted: [...(short === undefined ? [] : [`-${short}`]), ...unlisted],
    flag,
    placeholder: flag.placeholder ?? placeholders[kind],
    isList: kind === 'words',
    isRepeatable: isRepeatable(flag),
    required: flag.required === true,
    setting: null,
  }
}

function argumentFlag({ name, summary, unlisted = [], choices, rest }: Argument): KnownFlag {
  return {
    names: [],
    unlisted,
    flag: { name, summary, ...(choices && { choices }) },
    placeholder: name,
    isList: false,
    isRepeatable: rest === true,
    required: false,
    setting: null,
  }
}
