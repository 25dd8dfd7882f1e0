import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../../helpers/cli.ts'
import { resultOf } from '../../../helpers/result.ts'

const lesson = { title: 'Ebb', externalId: 'ebb' }
const school = (status: string, lessons: readonly object[]) =>
  JSON.stringify({
    learnctl: 1,
    users: [{ externalId: '1', email: 'a@b.example' }],
    courses: [{ externalId: 'sea', title: 'Sea', status, lessons }],
    enrollments: [{ courseId: 'sea', userId: '1', enrolledAt: '2026-01-01T00:00:00Z' }],
    progress: [
      { courseId: 'sea', learnerId: '1', completionPercentage: 20, lastAccessed: '2026-01-02T00:00:00Z' },
    ],
  })

for (const status of ['published', 'archived']) {
  test(`a course that is declared as ${status} gets its lessons and the progress in it`, async ({
    local,
  }) => {
    writeFileSync(join(local.cwd, 'academy.json'), school(status, [lesson, { title: 'Flow' }]))
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    expect(await local.run('diff')).toMatchObject({ code: 0 })
    expect((await resultOf(local, 'courses get ext:sea')).status).toBe(status)
    writeFileSync(join(local.cwd, 'academy.json'), school(status, [{ ...lesson, title: 'Tide' }]))
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    expect((await resultOf(local, 'lessons get ext:ebb')).title).toBe('Tide')
  })
}

test('a course of which a lesson is refused is not created until it is applied again', async ({ local }) => {
  await local.run('courses create --title Sky --external-id sky')
  await local.run('lessons create --course ext:sky --title Taken --external-id ebb')
  // A deleted lesson of a deleted course keeps its external id.
  await local.run('courses delete ext:sky --yes --force')
  const write = (externalId: string) => {
    const lessons = [{ title: 'Ebb', externalId }, { title: 'Flow' }]
    const courses = [{ externalId: 'sea', title: 'Sea', status: 'published', lessons }]
    writeFileSync(join(local.cwd, 'academy.json'), JSON.stringify({ learnctl: 1, courses }))
  }
  write('ebb')
  expect(await local.run('apply --yes')).toMatchObject({ code: 8 })
  expect((await local.run('courses get ext:sea')).stderr).toContain('not found')
  write('other')
  expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
  expect((await resultOf(local, 'courses get ext:sea')).status).toBe('published')
})
