import type { Command } from '../../src/cli/command/command.ts'
import { nouns } from '../../src/cli/program/nouns.ts'
import { host } from './host.ts'

/** The examples in help, each with the command that it stands at, and the commands without one. */
export async function helpExamples() {
  const examples: (readonly [line: string, command: string])[] = []
  const without: string[] = []
  for (const [noun, { load }] of Object.entries(nouns)) {
    const loaded = await load(host)
    const commands: readonly Command[] = 'length' in loaded ? loaded : [loaded]
    for (const { name, examples: lines = [] } of commands) {
      const path = name === noun ? noun : `${noun} ${name}`
      if (lines.length === 0) without.push(path)
      examples.push(...lines.map((line) => [line, path] as const))
    }
  }
  return { examples, without }
}
