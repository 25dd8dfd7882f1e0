import { nounAliases, shortcuts, verbsByAlias } from '../command/aliases.ts'
import type { Command, Host } from '../command/command.ts'
import { commandHelp, groupHelp, nounHelp, programHelp } from '../help/help-text.ts'
import { nouns } from './nouns.ts'

/**
 * Returns the help of `learnctl` for 80 columns. The build stores it beside the bundle, so it must not depend
 * on a terminal.
 */
export function topHelp(): string {
  return programHelp(nouns, 80)
}

/** Returns the manual page of all nouns; `date` is ISO 8601. */
export async function manualPage(date: string, host: Host): Promise<string> {
  const [{ manPage }, { version }] = await Promise.all([
    import('../help/man-page.ts'),
    import('../../contract/version.ts'),
  ])
  const parts = Object.entries(nouns).map(async ([name, noun]) => ({
    name,
    noun,
    loaded: await noun.load(host),
  }))
  return manPage(await Promise.all(parts), { version, date })
}

/** Returns the help of a noun, a command or a group; null if these words are none. */
export async function helpAt(path: readonly string[], width: number, host: Host): Promise<string | null> {
  if (path.length === 0) return topHelp()
  const [first = '', ...others] = path
  const [name, ...typed] = [
    ...(wordsFor(shortcuts, first) ?? [wordsFor(nounAliases, first) ?? first]),
    ...others,
  ]
  const noun = Object.hasOwn(nouns, name) ? nouns[name] : undefined
  if (!noun) return null
  const loaded = await noun.load(host)
  const words = 'length' in loaded ? expandAliases(typed, loaded) : typed
  if (!('length' in loaded)) return words.length === 0 ? commandHelp(`learnctl ${name}`, loaded, width) : null
  if (words.length === 0) return nounHelp(name, noun.summary, loaded, width)
  const command = loaded.find((each) => each.name === words.join(' '))
  if (command) return commandHelp(`learnctl ${name} ${command.name}`, command, width)
  const summary = noun.groups?.[words.join(' ')]
  return summary === undefined ? null : groupHelp([name, ...words].join(' '), summary, loaded, width)
}

function wordsFor<Words>(table: Readonly<Record<string, Words>>, word: string): Words | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

/** Replaces aliases among the words after a noun. */
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
