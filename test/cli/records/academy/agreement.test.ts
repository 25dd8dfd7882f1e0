import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { test } from '../../../helpers/cli.ts'
import { randomRuns } from '../../../helpers/random.ts'
import { apply, documentOf, school } from '../../undo/random-school.ts'

/** A user name that somebody has whom no file declares, and a time in the future: the academy refuses both. */
const spoiling = fc.record({ user: fc.option(fc.nat(2)), progress: fc.option(fc.nat(1)) })

test('a dry run of any file on any academy tells what the apply does, refusals included', {
  tags: ['slow'],
  timeout: 240_000,
}, async ({ local }) => {
  await local.run('users create --email other@b.example --username taken')
  await fc.assert(
    fc.asyncProperty(school, school, spoiling, async (one, other, spoilt) => {
      await apply(local, one)
      const { users, courses, ...rest } = documentOf(other)
      const progress = courses.slice(0, spoilt.progress ?? 0).flatMap(({ externalId }) =>
        users.slice(0, 1).map((user) => ({
          ...{ courseId: externalId, learnerId: user.externalId, completionPercentage: 5 },
          lastAccessed: '2099-01-01T00:00:00Z',
        })),
      )
      const named = users.map((user, index) =>
        index === spoilt.user ? { ...user, username: 'taken' } : user,
      )
      writeFileSync(
        join(local.cwd, 'school.json'),
        JSON.stringify({ ...rest, users: named, courses, progress }),
      )
      const line = 'apply school.json --label ci --prune'
      const before = await local.run('dump')
      const dry = await local.run(`${line} --dry-run -o json`)
      expect(await local.run('dump')).toEqual(before)
      const real = await local.run(`${line} --yes -o json`)
      expect(real.code, real.stderr).toBe(dry.code)
      const refusedIn = (text: string) => text.slice(text.indexOf('error:')).replace(/\n {2}hint[\s\S]*/, '')
      if (dry.code === 0) {
        expect(JSON.parse(real.stdout).summary).toEqual(JSON.parse(dry.stdout).summary)
        // What comes back with a restored record is known only afterwards.
        const isRestored =
          dry.stderr.includes('Restores from the trash') || dry.stdout.includes('"from": "deleted"')
        if (isRestored) await local.run(`${line} --yes`)
        expect((await local.run('diff school.json --label ci --prune')).stdout).toMatch(/^No changes/)
      } else {
        expect(refusedIn(real.stderr)).toBe(refusedIn(dry.stderr))
        expect(await local.run('dump')).toEqual(before)
        const skipped = await local.run(`${line} --yes --skip-invalid -o json`)
        const { failed } = JSON.parse(real.stdout)
        expect(JSON.parse(skipped.stdout).failed).toEqual(failed)
      }
    }),
    { numRuns: randomRuns(2, 25), endOnFailure: true },
  )
})
