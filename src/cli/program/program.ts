import { type CommanderError, Option, Command as Parser } from 'commander'
import { type Setting, settings } from '../../config/setting.ts'
import { flagHabits, nounsByAlias, shortcuts, verbsByAlias } from '../command/aliases.ts'
import {
  type Argument,
  type Command,
  type Host,
  type Invocation,
  type Noun,
  schemaFlag,
} from '../command/command.ts'
import { type Flag, isRepeatable, parseFlag } from '../command/flag.ts'
import { commandHelp, groupHelp, nounHelp, programHelp } from '../help/help-text.ts'
import { HelpShown, UsageError } from '../terminal/errors.ts'
import { nouns } from './nouns.ts'

export interface Program {
  /** Throws HelpShown and UsageError. */
  parse(argv: readonly string[]): Promise<void>
}

/** `width` is that of the help in characters. */
export function createProgram(host: Host, width: number, execute: Execute): Program {
  return new CommandLine(host, width, execute)
}

type Execute = (invocation: Invocation) => Promise<void>

const globalOptions = Object.values<Setting>(settings).map(globalOption)

/** Parses once. A parser gets its flags when it is used: there are about fifty parsers. */
class CommandLine implements Program {
  readonly #host: Host
  readonly #width: number
  readonly #execute: Execute
  /** Values of flags that accept one, by attribute. */
  readonly #givenByAttribute = new Map<string, { flag: string; text: unknown }>()
  readonly #filled = new Set<Parser>()
  readonly #commandByParser = new Map<Parser, Command>()

  constructor(host: Host, width: number, execute: Execute) {
    this.#host = host
    this.#width = width
    this.#execute = execute
  }

  async parse(argv: readonly string[]): Promise<void> {
    await this.#createRoot(argv[0]).parseAsync(argv, { from: 'user' })
  }

  /** With the first noun only, if there is one: fifty parsers take as long as the work of a short command. */
  #createRoot(first = ''): Parser {
    const names = Object.keys(nouns).filter((name) => name === first || !Object.hasOwn(nouns, first))
    const root = this.#prepare(new Parser('learnctl'), () => programHelp(nouns, 80))
      .enablePositionalOptions()
      .showSuggestionAfterError(false)
      .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    for (const name of names) root.command(name)
    addAliases(root, Object.entries(nounsByAlias(Object.keys(nouns))))
    for (const word of Object.keys(shortcuts)) root.command(word, { hidden: true })
    return root.hook('preSubcommand', (_, noun) => this.#fill(noun))
  }

  #prepare(parser: Parser, formatHelp: () => string): Parser {
    for (const option of globalOptions) this.#addOnce(parser, option)
    return parser
      .helpOption('-h, --help')
      .helpCommand(false)
      .configureHelp({ formatHelp })
      .exitOverride((error) => {
        throw meaningOf(error, parser)
      })
  }

  /** Refuses a second value anywhere on the command line. */
  #addOnce(parser: Parser, option: Option): void {
    const attribute = option.attributeName()
    parser.addOption(option).on(`option:${option.name()}`, (text: unknown) => {
      const before = this.#givenByAttribute.get(attribute)
      const flag = `${option.long ?? option.short}`
      if (before === undefined) this.#givenByAttribute.set(attribute, { flag, text })
      else if (typeof text === 'string') {
        const values = [before.text, text].map((value) => JSON.stringify(value)).join(' and ')
        throw new UsageError(`${flag} takes one value, but was given ${values}`)
      } else if (before.flag !== flag && [before.flag, flag].some((each) => each.startsWith('--no-'))) {
        throw new UsageError(`${before.flag} and ${flag} cannot be used together`)
      }
    })
  }

  async #fill(parser: Parser): Promise<void> {
    if (this.#filled.has(parser)) return
    this.#filled.add(parser)
    const command = this.#commandByParser.get(parser)
    if (command) this.#addCommand(parser, command)
    else await this.#fillNoun(parser)
  }

  async #fillNoun(parser: Parser): Promise<void> {
    const name = parser.name()
    const [owner = name, verb] = shortcuts[name] ?? []
    const noun = nouns[owner]
    if (!noun) return
    const loaded = await noun.load(this.#host)
    if (verb !== undefined) {
      const command = 'length' in loaded ? loaded.find((each) => each.name === verb) : loaded
      if (command) this.#addCommand(parser, command)
      return
    }
    if (!('length' in loaded)) {
      this.#addCommand(parser, loaded)
      return
    }
    this.#prepare(parser, () => nounHelp(name, noun.summary, loaded, this.#width))
    for (const command of loaded) {
      const [word = '', inner] = command.name.split(' ')
      const owner = inner === undefined ? parser : this.#groupParser(parser, word, noun, loaded)
      const { isDefault = false } = command
      this.#commandByParser.set(owner.command(inner ?? word, { isDefault }), command)
    }
    for (const each of [parser, ...parser.commands.filter(({ commands }) => commands.length > 0)]) {
      addAliases(each, verbsByAlias(each.commands.map((command) => command.name())))
    }
    parser.hook('preSubcommand', (_, chosen) => this.#fill(chosen))
  }

  /** Returns the parser of a word between a noun and its verbs, such as `grants` in `auth grants list`. */
  #groupParser(parent: Parser, word: string, noun: Noun, commands: readonly Command[]): Parser {
    const known = parent.commands.find((child) => child.name() === word)
    if (known) return known
    const group = parent.command(word)
    this.#filled.add(group)
    const summary = noun.groups?.[word] ?? ''
    this.#prepare(group, () => groupHelp(`${parent.name()} ${word}`, summary, commands, this.#width))
    return group.hook('preSubcommand', (_, chosen) => this.#fill(chosen))
  }

  #addCommand(parser: Parser, command: Command): void {
    const { arguments: positions = [], flags = [] } = command
    this.#prepare(parser, () => commandHelp(pathOf(parser), command, this.#width))
    // All arguments are optional to the parser, because a prompt can ask for them.
    const rest = positions.findIndex((position) => position.rest)
    for (const [index, position] of positions.entries()) {
      // Arguments after a rest argument are part of its values.
      if (rest < 0 || index <= rest)
        parser.argument(position.rest ? `[${position.name}...]` : `[${position.name}]`)
      for (const option of argumentOptions(position)) parser.addOption(option)
    }
    for (const flag of flags) {
      for (const option of optionsOf(flag)) {
        if (isRepeatable(flag)) parser.addOption(option)
        else this.#addOnce(parser, option)
      }
    }
    for (const [name, reason] of Object.entries(command.refusesFlags ?? {})) {
      parser.addOption(hiddenOption(`--${name} [value]`)).on(`option:${name}`, () => {
        throw new UsageError(`--${name} is not supported by \`${pathOf(parser)}\``, {
          code: 'unsupported_flag',
          why: [reason],
        })
      })
    }
    const hasOwn = flags.some(({ name }) => name === schemaFlag)
    if (!hasOwn) parser.addOption(hiddenOption(`--${schemaFlag}`))
    parser.action(async () => {
      if (!hasOwn && parser.getOptionValue(schemaFlag) === true) {
        const { schemaText } = await import('../results/output-schemas.ts')
        throw new HelpShown(await schemaText(command, pathOf(parser)))
      }
      await this.#execute({
        command,
        name: pathOf(parser),
        globals: globalsOf(parser),
        arguments: argumentsOf(parser, positions),
        flags: Object.fromEntries(flags.map(({ name }) => [name, parser.getOptionValue(attributeOf(name))])),
      })
    })
  }
}

function globalOption({ flag, short, placeholder }: Setting): Option {
  const long = placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`
  return new Option(short === undefined ? long : `-${short}, ${long}`)
}

function optionsOf(flag: Flag): Option[] {
  const { name, short, unlisted = [], kind, negatable } = flag
  const long = short === undefined ? `--${name}` : `-${short}, --${name}`
  const value = kind === 'switch' ? '' : ` <${kind}>`
  const options = [new Option(`${long}${value}`), ...unlisted.map((each) => hiddenOption(`${each}${value}`))]
  if (kind === 'switch') {
    const off = negatable ? [new Option(`--no-${name}`)] : []
    return [...options.map((each) => storeAs(name, each)), ...off]
  }
  return options.map((each) =>
    storeAs(name, each).argParser((text: string, previous: unknown) => parseFlag(flag, text, previous)),
  )
}

function argumentOptions({ name, unlisted = [] }: Argument): Option[] {
  return unlisted.map((each) =>
    storeAs(argumentKey(name), hiddenOption(`${each} <${name}>`)).argParser(
      (text: string, previous: unknown) => [...(Array.isArray(previous) ? previous : []), text],
    ),
  )
}

function argumentKey(name: string): string {
  return `argument ${name}`
}

function hiddenOption(flags: string): Option {
  return new Option(flags).hideHelp()
}

function storeAs(name: string, option: Option): Option {
  const key = name.includes(' ') ? name : attributeOf(name)
  return Object.assign(option, { attributeName: () => key })
}

/** Includes those given by a flag instead. Throws a UsageError for one that was given in both ways. */
function argumentsOf(parser: Parser, positions: readonly Argument[]): readonly string[] {
  const given = [...parser.args]
  for (const [index, { name, rest, unlisted = [] }] of positions.entries()) {
    const values: unknown = parser.getOptionValue(argumentKey(name))
    if (!Array.isArray(values)) continue
    if (!rest && (values.length > 1 || given.length >= positions.length)) {
      const flags = unlisted.join(' or ')
      throw new UsageError(
        `<${name}> is given twice: ${[...given.slice(index, index + 1), ...values].join(', ')}`,
        {
          why: [`${flags} takes the place of <${name}>`],
        },
      )
    }
    given.splice(index, 0, ...values.map(String))
  }
  return given
}

function attributeOf(name: string): string {
  return new Option(`--${name}`).attributeName()
}

/** Flags may stand before the command, between its words, or after it. */
function globalsOf(parser: Parser): Record<string, unknown> {
  const parsers: Parser[] = []
  for (let each: Parser | null = parser; each; each = each.parent) parsers.unshift(each)
  const entries = Object.entries<Setting>(settings).flatMap(([name, { flag }]) => {
    const attribute = attributeOf(flag)
    const given = parsers.filter((each) => each.getOptionValueSource(attribute) === 'cli').at(-1)
    if (!given) return []
    // The parser reads `--no-input` as the negation of input; for the settings it is a switch.
    const value: unknown = given.getOptionValue(attribute)
    return [[name, value === false ? true : value]]
  })
  return Object.fromEntries(entries)
}

function pathOf(parser: Parser): string {
  if (!parser.parent) return parser.name()
  const words = parser.parent.parent ? undefined : shortcuts[parser.name()]
  return [pathOf(parser.parent), ...(words ?? [parser.name()])].join(' ')
}

function addAliases(parser: Parser, words: Iterable<readonly [word: string, name: string]>): void {
  for (const [word, name] of words) parser.commands.find((each) => each.name() === name)?.alias(word)
}

/** Converts an exit of the parser to the help that was requested, or to a usage error with suggestions. */
function meaningOf({ code, message }: CommanderError, parser: Parser): Error {
  if (code === 'commander.helpDisplayed' || code === 'commander.help') {
    return new HelpShown(parser.helpInformation())
  }
  const text = message
    .replace(/^error: (\w)/, (_, first: string) => first.toUpperCase())
    .replace(/^Unknown option/, 'Unknown flag')
  const given = /'(.+?)'/.exec(text)?.[1] ?? ''
  const hint = `See: ${pathOf(parser)} --help`
  if (code === 'commander.unknownCommand') {
    const commands = parser.commands.map((command) => ({ name: command.name(), words: command.aliases() }))
    const means = Object.fromEntries(commands.flatMap(({ name, words }) => words.map((word) => [word, name])))
    const valid = commands.map(({ name }) => name)
    return new UsageError(text, { code: 'unknown_command', hint, choice: { given, valid, means } })
  }
  if (code === 'commander.unknownOption') {
    if (parser.registeredArguments.some((argument) => `--${argument.name()}` === given)) {
      return new UsageError(text, { code: 'unknown_flag', hint: `It is an argument, not a flag. ${hint}` })
    }
    const valid = parser.options
      .flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
      .concat('--help')
    const isHere = (flag: string) =>
      parser.options.some(({ long, short }) => [long, short].includes(flag.split(' ')[0]))
    // Short flags are all near to each other.
    const habits = Object.entries(flagHabits).filter(
      ([habit]) => !valid.includes(habit) && (habit === given || habit.startsWith('--')),
    )
    const means = Object.fromEntries(
      habits.flatMap(([habit, flags]) => {
        const meant = [flags].flat().find(isHere)
        return meant === undefined ? [] : [[habit, meant] as const]
      }),
    )
    return new UsageError(text, { code: 'unknown_flag', hint, choice: { given, valid, means } })
  }
  return new UsageError(text, { hint })
}
