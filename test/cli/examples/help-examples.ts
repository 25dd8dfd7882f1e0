import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Command } from '../../../src/cli/command/command.ts'
import { isListed } from '../../../src/cli/help/help-text.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { inProcesses, openExamples, successOf } from '../../helpers/examples.ts'
import { host } from '../../helpers/host.ts'

const learning = /^(learnctl )?(courses|lessons|users|enrollments|progress|grades|analytics) /

/** Parts of the examples; each has its own test file, because they take long. */
export type Part = 'learning' | 'platform' | 'processes'

/** Examples in help with their command, and the commands without examples. */
export async function helpExamples() {
  const examples: (readonly [line: string, command: string])[] = []
  const without: string[] = []
  for (const [noun, { load }] of Object.entries(nouns)) {
    const loaded = await load(host)
    const commands: readonly Command[] = 'length' in loaded ? loaded : [loaded]
    for (const { name, isDefault, examples: lines = [] } of commands.filter(isListed)) {
      const path = name === noun || isDefault ? noun : `${noun} ${name}`
      if (lines.length === 0) without.push(path)
      examples.push(...lines.map((line) => [line, path] as const))
    }
  }
  return { examples, without }
}

/** Declares a test for each example of a part: it must succeed after quickstart. */
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
