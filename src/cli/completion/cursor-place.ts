import { type Setting, type SettingName, settings } from '../../config/setting.ts'
import { nounsByAlias, shortcuts, verbsByAlias } from '../command/aliases.ts'
import type { Argument, Command, Host, Noun } from '../command/command.ts'
import { type Flag, isRepeatable, placeholders } from '../command/flag.ts'

export interface KnownFlag {
  /** With their dashes. */
  readonly names: readonly string[]
  /** Other accepted names: short ones and unlisted ones. */
  readonly unlisted: readonly string[]
  readonly flag: Pick<Flag, 'name' | 'summary' | 'choices'>
  /** Placeholder of the value in help; empty for a switch. */
  readonly placeholder: string
  readonly isList: boolean
  readonly isRepeatable: boolean
  readonly required: boolean
  readonly setting: SettingName | null
}

/** The state at the cursor, from the words before it. */
export interface CursorPlace {
  /** Null before the noun is complete. */
  readonly noun: string | null
  /** Commands that may follow the noun or the group, or the one that was named. */
  readonly commands: readonly Command[]
  /** Words between the noun and a verb, such as `grants`. */
  readonly group: string
  readonly command: Command | null
  readonly given: readonly string[]
  readonly flags: readonly KnownFlag[]
  /** By name of the flag. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly awaiting: KnownFlag | null
  /** True after `--`, where nothing is a flag. */
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

export function argumentAt({ arguments: positions = [] }: Command, index: number): Argument | undefined {
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

export function flagNamed(flags: readonly KnownFlag[], name: string): KnownFlag | undefined {
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

/** Returns the flag that may replace an argument; it is completed like the argument, and not suggested. */
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
