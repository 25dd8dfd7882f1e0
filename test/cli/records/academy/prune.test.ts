import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type Ran, type TestCli, test } from '../../../helpers/cli.ts'

/** Makes the academy equal to a document. */
async function apply(cli: TestCli, document: object): Promise<Ran> {
  writeFileSync(join(cli.cwd, 'school.json'), JSON.stringify({ learnctl: 1, ...document }))
  return cli.run('apply school.json --label ci --prune --yes')
}

const users = [{ externalId: '1', email: 'u1@b.example' }]
const archived = (...lessons: string[]) => ({
  ...{ externalId: 'A', title: 'Alps', status: 'archived' },
  lessons: lessons.map((title) => ({ externalId: title, title })),
})
const titlesAndStatuses = (cli: TestCli) => cli.run('courses list --columns title,status')

describe('apply --prune', () => {
  test('deletes a lesson whose place a new one takes', async ({ local }) => {
    const course = (...titles: string[]) => ({ ...archived(...titles), status: 'published' })
    await apply(local, { courses: [course('One', 'Two')] })
    const ran = await apply(local, { courses: [course('New', 'Two')] })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const { stdout } = await local.run('lessons list --course ext:A --sort order --columns title')
    expect(stdout).toBe('New\nTwo\n')
  })

  test('deletes an archived course with its lessons and enrolments', async ({ local }) => {
    await apply(local, { users, courses: [archived('One')], enrollments: [{ courseId: 'A', userId: '1' }] })
    const ran = await apply(local, { users, courses: [], enrollments: [] })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect((await titlesAndStatuses(local)).stdout).toBe('')
  })

  test('leaves an archived course that cannot be deleted archived', async ({ local }) => {
    await apply(local, {
      ...{ users, courses: [archived('One')], enrollments: [{ courseId: 'A', userId: '1' }] },
      grades: [{ courseId: 'A', learnerId: '1', scoreGiven: 50 }],
    })
    const ran = await apply(local, { users, courses: [], enrollments: [] })
    expect(ran.code).toBe(8)
    expect(ran.stderr).toContain('Course ext:A: The course has learner progress or grades.')
    expect((await titlesAndStatuses(local)).stdout).toBe('Alps\tarchived\n')
  })
})

test('apply restores a course that is in the trash, and changes it as declared', async ({ local }) => {
  await apply(local, { users, courses: [archived()] })
  await apply(local, { users, courses: [] })
  const bays = { externalId: 'B', title: 'Bays', lessons: [{ externalId: 'Sea', title: 'Sea' }] }
  const ran = await apply(local, { users, courses: [archived('One'), bays] })
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toContain('note: Restored from the trash: course Alps (A)\n')
  expect((await local.run('lessons list --columns title')).stdout.split('\n').sort()).toEqual([
    '',
    'One',
    'Sea',
  ])
  expect((await titlesAndStatuses(local)).stdout).toContain('Alps\tarchived\n')
  const again = await apply(local, { users, courses: [archived('One'), bays] })
  expect(again.stderr).toContain('No changes')
})
