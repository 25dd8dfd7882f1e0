import { nounsByAlias, shortcuts, verbsByAlias } from '../command/aliases.ts'
import type { Command, Host, Invocation, NamedCommand, RunApart } from '../command/command.ts'
import { commandHelp, groupHelp, isListed, nounHelp, programHelp } from '../help/help-text.ts'
import { UsageError } from '../terminal/errors.ts'
import { nouns } from './nouns.ts'

export function widthOf(columns = 80): number {
  return Math.max(40, Math.min(columns, 110))
}

export function createHost(width: number, runApart: RunApart): Host {
  const parse = async (argv: readonly string[], execute: (invocation: Invocation) => Promise<void>) => {
    const { createProgram } = await import('./program.ts')
    await createProgram(host, width, execute).parse(argv)
  }
  const host: Host = {
    helpOf: (path) => helpAt(path, width, host),
    commandsAt: (path) => commandsAt(path, host),
    manual: (date) => manualPage(date, host),
    async runLine(argv, context) {
      const { runCommand } = await import('../command/run-command.ts')
      await parse(argv, (invocation) => runCommand(context, invocation))
    },
    async parseLine(argv) {
      const parsed: Invocation[] = []
      await parse(argv, async (invocation) => void parsed.push(invocation))
      const [invocation] = parsed
      if (!invocation) throw new UsageError('A command is required', { hint: 'See: learnctl --help' })
      return invocation
    },
    runApart,
  }
  return host
}

/** For 80 columns. The build stores it beside the bundle, so it must not depend on a terminal. */
export function topHelp(): string {
  return programHelp(nouns, 80)
}

/** `date` is ISO 8601. */
async function manualPage(date: string, host: Host): Promise<string> {
  const [{ manPage }, { version }] = await Promise.all([
    import('../help/help-topics.ts'),
    import('../../contract/version.ts'),
  ])
  const parts = Object.entries(nouns).map(async ([name, noun]) => ({
    name,
    noun,
    loaded: await noun.load(host),
  }))
  return manPage(await Promise.all(parts), { version, date })
}

async function helpAt(path: readonly string[], width: number, host: Host): Promise<string | null> {
  if (path.length === 0) return topHelp()
  const found = await findPlace(path, host)
  if (!found) return null
  const { name, noun, words, loaded } = found
  if (!('length' in loaded)) return words.length === 0 ? commandHelp(`learnctl ${name}`, loaded, width) : null
  if (words.length === 0) return nounHelp(name, noun.summary, loaded, width)
  const command = loaded.find((each) => each.name === words.join(' '))
  if (command) return commandHelp(`learnctl ${name} ${command.name}`, command, width)
  const summary = noun.groups?.[words.join(' ')]
  return summary === undefined ? null : groupHelp([name, ...words].join(' '), summary, loaded, width)
}

async function findPlace(path: readonly string[], host: Host) {
  const [first = '', ...others] = path
  const [name, ...typed] = [
    ...(wordsFor(shortcuts, first) ?? [wordsFor(nounsByAlias(Object.keys(nouns)), first) ?? first]),
    ...others,
  ]
  const noun = Object.hasOwn(nouns, name) ? nouns[name] : undefined
  if (!noun) return null
  const loaded = await noun.load(host)
  return { name, noun, loaded, words: 'length' in loaded ? expandAliases(typed, loaded) : typed }
}

async function commandsAt(path: readonly string[], host: Host): Promise<readonly NamedCommand[] | null> {
  if (path.length === 0) {
    const all = await Promise.all(Object.keys(nouns).map((name) => commandsAt([name], host)))
    return all.flatMap((each) => each ?? [])
  }
  const found = await findPlace(path, host)
  if (!found) return null
  const { name, loaded } = found
  const words = found.words.join(' ')
  if (!('length' in loaded)) return words === '' ? [nameCommand(name, loaded, [])] : null
  const named = loaded
    .filter((each) =>
      words === ''
        ? isListed(each)
        : each.name === words || (isListed(each) && each.name.startsWith(`${words} `)),
    )
    .map((each) => nameCommand(name, each, loaded))
  return named.length === 0 ? null : named
}

function nameCommand(noun: string, command: Command, siblings: readonly Command[]): NamedCommand {
  const nounWords = Object.entries(nounsByAlias([noun])).flatMap(([word, name]) =>
    name === noun ? [word] : [],
  )
  if (siblings.length === 0) return { path: noun, command, aliases: nounWords }
  const [verb = '', ...before] = command.name.split(' ').toReversed()
  const group = before.map((word) => `${word} `).join('')
  const verbs = siblings.flatMap(({ name }) => (name.startsWith(group) ? [name.slice(group.length)] : []))
  const verbWords = [...verbsByAlias(verbs, true)].flatMap(([word, name]) => (name === verb ? [word] : []))
  const whole = `${noun} ${command.name}`
  const isShortcut = ([, words]: readonly [string, readonly string[]]) => words.join(' ') === whole
  return {
    path: command.isDefault ? noun : whole,
    command,
    aliases: [
      ...(command.isDefault ? [whole] : []),
      ...Object.entries(shortcuts)
        .filter(isShortcut)
        .map(([word]) => word),
      ...nounWords.map((word) => `${word} ${command.name}`),
      ...verbWords.map((word) => `${noun} ${group}${word}`),
    ],
  }
}

function wordsFor<Words>(table: Readonly<Record<string, Words>>, word: string): Words | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

function expandAliases(words: readonly string[], commands: readonly Command[]): string[] {
  return words.map((word, index) => {
    const before = words.slice(0, index)
    const names = commands
      .map((command) => command.name.split(' '))
      .filter((parts) => before.every((each, at) => each === parts[at]))
      .map((parts) => parts[index] ?? '')
    return verbsByAlias(names).get(word) ?? word
  })
}
