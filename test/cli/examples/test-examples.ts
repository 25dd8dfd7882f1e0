import { afterAll, beforeEach, expect, test } from 'vitest'
import { printedBy } from '../../../src/cli/help/describe-command.ts'
import { inProcesses, openExamples, successOf } from '../../helpers/examples.ts'
import { allCommands } from '../../helpers/host.ts'
import { differencesFrom } from '../../helpers/printed-schema.ts'
import { slowRows } from '../../helpers/slow-rows.ts'
import { comparedLines, exampleLines } from './help-examples.ts'

const learning = /^(courses|lessons|users|enrollments|progress|grades|analytics) /

/** Parts of the examples; each has its own test file, because they take long. */
type Part = 'learning' | 'platform' | 'processes'

/**
 * Declares a test for each line of a part: after quickstart it must succeed, and print what its schema describes. `npm test` runs the
 * first line of each command.
 */
export async function testExamples(part: Part): Promise<void> {
  const commands = new Map(await allCommands())
  const place = await openExamples('few')
  beforeEach(() => place.reset())
  afterAll(() => place.close())

  const linesByCommand = Map.groupBy(
    exampleLines.filter(([line]) => partOf(line) === part),
    ([, path]) => path,
  )
  test.for([...linesByCommand.values()].flatMap((lines) => slowRows(lines)))(
    'learnctl %s',
    async ([line, path]) => {
      const isCompared = comparedLines.has(line)
      const ran = await place.run(line, isCompared ? { LEARNCTL_OUTPUT: 'json' } : {})
      expect(ran, ran.stderr).toMatchObject({ code: successOf(line) })
      const command = commands.get(path)
      if (isCompared && command) {
        expect(differencesFrom(await printedBy(command), JSON.parse(ran.stdout))).toEqual([])
      }
    },
  )
}

function partOf(line: string): Part {
  if (inProcesses.test(line)) return 'processes'
  return learning.test(line) ? 'learning' : 'platform'
}
