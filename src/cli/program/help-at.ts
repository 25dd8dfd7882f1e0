import type { Host } from '../command/noun.ts'
import { commandHelp, groupHelp, nounHelp, programHelp } from '../help/help-text.ts'
import { nouns } from './nouns.ts'

/** The help of `learnctl` itself. It stands beside the bundle as text, made once: it must not depend on a terminal. */
export function topHelp(): string {
  return programHelp(nouns, 80)
}

/** The help of what these words lead to, a noun, a command or a word between them; null where there is none. */
export async function helpAt(path: readonly string[], width: number, host: Host): Promise<string | null> {
  const [name = '', ...words] = path
  if (path.length === 0) return topHelp()
  const noun = Object.hasOwn(nouns, name) ? nouns[name] : undefined
  if (!noun) return null
  const loaded = await noun.load(host)
  if (!('length' in loaded)) return words.length === 0 ? commandHelp(`learnctl ${name}`, loaded, width) : null
  if (words.length === 0) return nounHelp(name, noun.summary, loaded, width)
  const command = loaded.find((each) => each.name === words.join(' '))
  if (command) return commandHelp(`learnctl ${path.join(' ')}`, command, width)
  const summary = noun.groups?.[words.join(' ')]
  return summary === undefined ? null : groupHelp(path.join(' '), summary, loaded, width)
}
