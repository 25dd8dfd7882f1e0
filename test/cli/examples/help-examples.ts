import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Command } from '../../../src/cli/command/command.ts'
import { isListed } from '../../../src/cli/help/help-text.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { inProcesses, openExamples, successOf } from '../../helpers/examples.ts'
import { host } from '../../helpers/host.ts'

const learning = /^(learnctl )?(courses|lessons|users|enrollments|progress|grades|analytics) /

/** What an example is about; each part has a file of its own in test/cli/examples, as all of them take long. */
export type Part = 'learning' | 'platform' | 'processes'

/** The examples in help, each with the command that it stands at, and the commands without one. */
export async function helpExamples() {
  const examples: (readonly [line: string, command: string])[] = []
  const without: string[] = []
  for (const [noun, { load }] of Object.entries(nouns)) {
    const loaded = await load(host)
    const commands: readonly Command[] = 'length' in loaded ? loaded : [loaded]
    for (const { name, examples: lines = [] } of commands.filter(isListed)) {
      const path = name === noun ? noun : `${noun} ${name}`
      if (lines.length === 0) without.push(path)
      examples.push(...lines.map((line) => [line, path] as const))
    }
  }
  return { examples, without }
}

/** Declares a test for each example of one part: it succeeds on what quickstart left. */
export async function testExamples(part: Part): Promise<void> {
  const place = await openExamples()
  beforeEach(() => place.reset())
  afterAll(() => place.close())

  const { examples } = await helpExamples()
  test.for(examples.filter(([line]) => partOf(line) === part))('learnctl %s', async ([line]) => {
    const ran = await place.run(line)
    expect(ran, ran.stderr).toMatchObject({ code: successOf(line) })
  })
}

function partOf(line: string): Part {
  if (inProcesses.test(line)) return 'processes'
  return learning.test(line) ? 'learning' : 'platform'
}
