import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { randomRuns } from '../../helpers/random.ts'
import { ran } from '../../helpers/result.ts'
import { slowRows } from '../../helpers/slow-rows.ts'
import { anySchool, makeSchool } from './random-school.ts'

const runs = randomRuns(1, 4)

function filesIn(cli: TestCli, folder: string): Record<string, string> {
  const names = readdirSync(join(cli.cwd, folder))
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(cli.cwd, folder, name), 'utf8')]))
}

const forms = {
  'OneRoster 1.2': 'oneroster --org-name School',
  'OneRoster 1.1': 'oneroster --org-name School --oneroster-version 1.1',
  'Canvas SIS': 'canvas',
  Moodle: 'moodle --category 1',
} as const

describe('any school, exported and applied to an empty academy', () => {
  test.for(slowRows(Object.entries(forms)))(
    'is exported again as the same package of %s',
    async ([, form], { local }) => {
      let number = 0
      await fc.assert(
        fc.asyncProperty(anySchool, async (school) => {
          number += 1
          const [one, other] = [`one-${number}.db`, `other-${number}.db`]
          for (const name of [one, other]) await putNewAcademy(join(local.cwd, name))
          await makeSchool(local, one, school)
          await ran(local, `roster export --format ${form} first-${number} --database ${one}`)
          await ran(local, `roster apply first-${number} --yes --database ${other}`)
          await ran(local, `roster diff first-${number} --database ${other}`)
          await ran(local, `roster export --format ${form} second-${number} --database ${other}`)
          expect(filesIn(local, `second-${number}`)).toEqual(filesIn(local, `first-${number}`))
        }),
        { numRuns: runs },
      )
    },
  )
})
