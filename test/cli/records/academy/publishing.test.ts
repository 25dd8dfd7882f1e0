import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
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
  test(`a course that is declared as ${status} is published after its lessons are written`, async ({
    academy,
  }) => {
    const { key, get } = await academy.person('admin')
    const transport = transportTo(academy)
    const seen: string[] = []
    const cli = testCli({
      transport: async (request) => {
        const isLesson = request.method === 'POST' && request.url.endsWith('/v1/lessons')
        if (isLesson) seen.push((await get('/v1/courses/ext:sea')).body.status)
        return transport(request)
      },
    })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    writeFileSync(join(cli.cwd, 'academy.json'), school(status, [lesson, { title: 'Flow' }]))
    const ran = await cli.run('apply --yes', { env })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(seen).toEqual(['draft', 'draft'])
    expect((await get('/v1/courses/ext:sea')).body.status).toBe(status)
    expect(await cli.run('diff', { env })).toMatchObject({ code: 0 })
  })
}

test('a course of which a lesson is refused stays a draft until it is applied again', async ({ local }) => {
  await local.run('courses create --title Sky --external-id sky')
  await local.run('lessons create --course ext:sky --title Taken --external-id ebb')
  // A deleted lesson of another course keeps its external id.
  await local.run('lessons delete ext:ebb --yes')
  const write = (externalId: string) => {
    const lessons = [{ title: 'Ebb', externalId }, { title: 'Flow' }]
    const courses = [{ externalId: 'sea', title: 'Sea', status: 'published', lessons }]
    writeFileSync(join(local.cwd, 'academy.json'), JSON.stringify({ learnctl: 1, courses }))
  }
  write('ebb')
  expect(await local.run('apply --yes')).toMatchObject({ code: 8 })
  expect((await resultOf(local, 'courses get ext:sea')).status).toBe('draft')
  write('other')
  expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
  expect((await resultOf(local, 'courses get ext:sea')).status).toBe('published')
})
