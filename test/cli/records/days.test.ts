import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'

const dayStart = '2026-09-30T00:00:00.000Z'
const lesson =
  '{externalId: L, title: L, dueAt: 2026-09-30, assessments: [{type: quiz, title: Q, dueAt: 2026-10-01}]}'

async function dueTimes(local: TestCli) {
  const { dueAt, assessments } = JSON.parse((await local.run('lessons get ext:L -o json')).stdout)
  return [dueAt, assessments[0].dueAt]
}

describe('a day for a due time is its beginning in UTC, at any depth,', () => {
  test('in an academy file', async ({ local }) => {
    writeFileSync(
      join(local.cwd, 'academy.yaml'),
      `learnctl: 1\ncourses: [{externalId: C, title: C, lessons: [${lesson}]}]\n`,
    )
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    expect(await dueTimes(local)).toEqual([dayStart, '2026-10-01T00:00:00.000Z'])
    expect(await local.run('diff')).toMatchObject({ code: 0 })
  })

  test.for(['csv', 'json'])('in %s', async (format, { local }) => {
    await local.run('courses create --title C --external-id C')
    const quiz = [{ type: 'quiz', title: 'Q', dueAt: '2026-10-01' }]
    const row = { courseId: 'ext:C', externalId: 'L', title: 'L', dueAt: '2026-09-30', assessments: quiz }
    const cells = Object.values({ ...row, assessments: `"${JSON.stringify(quiz).replaceAll('"', '""')}"` })
    const text = format === 'json' ? JSON.stringify([row]) : `${Object.keys(row)}\n${cells}\n`
    expect(await local.run('lessons import -', { stdin: text })).toMatchObject({ code: 0 })
    expect(await dueTimes(local)).toEqual([dayStart, '2026-10-01T00:00:00.000Z'])
  })

  test('and a day that does not exist is refused with its line', async ({ local }) => {
    writeFileSync(
      join(local.cwd, 'c.yaml'),
      'externalId: C\ntitle: C\nlessons:\n  - title: L\n    dueAt: 2026-09-31\n',
    )
    const { code, stderr } = await local.run('courses validate -f c.yaml')
    expect(code).toBe(2)
    expect(stderr).toContain('c.yaml:5: lessons[0].dueAt must be a valid RFC 3339 time')
  })
})

test('the JSON Schema of academy files takes days and times, and repeats no generated names', async ({
  local,
}) => {
  const { stdout } = await local.run('validate --schema')
  const schema = JSON.parse(stdout)
  const { dueAt } = schema.properties.courses.items.properties.lessons.items.properties
  expect(JSON.stringify(dueAt)).toContain('"anyOf":[{"format":"date-time"},{"format":"date"}]')
  expect(stdout).not.toContain('__schema')
})
