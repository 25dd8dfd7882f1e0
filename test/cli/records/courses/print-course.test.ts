import { describe, expect } from 'vitest'
import { parse } from 'yaml'
import { type TestCli, test } from '../../../helpers/cli.ts'

const modules = [{ title: 'Sea' }, { title: 'Air', description: 'What is above' }]

async function courseWithLessons(cli: TestCli): Promise<void> {
  const send = async (line: string[], body: object) => {
    const ran = await cli.run([...line, '--body', '-', '-o', 'json'], { stdin: JSON.stringify(body) })
    expect(ran.code, ran.stderr).toBe(0)
    return JSON.parse(ran.stdout)
  }
  const course = await send(['courses', 'create'], { externalId: 'BIO-101', title: 'Yes', modules })
  const [, air] = course.modules
  const lesson = (body: object) => send(['lessons', 'create'], { courseId: course.id, ...body })
  await lesson({ title: 'Welcome' })
  await lesson({ title: 'Waves', moduleId: course.modules[0].id, externalId: 'waves' })
  await lesson({
    title: 'Wind',
    moduleId: air.id,
    durationMinutes: 45,
    contentBlocks: [{ type: 'code', body: 'if wind:\n\tsail()\n' }],
    assessments: [
      { type: 'quiz', title: 'Q', questions: [{ type: 'true_false', prompt: 'Wet?', answer: true }] },
    ],
  })
}

describe('courses get --with-lessons', () => {
  test('prints the course as a file: lessons in their modules, nothing that has its default', async ({
    local,
  }) => {
    await courseWithLessons(local)
    const { stdout, code } = await local.run('courses get ext:BIO-101 --with-lessons -o yaml')
    expect(code).toBe(0)
    expect(stdout).toBe(`externalId: BIO-101
title: "Yes"
status: draft
modules:
  - title: Sea
    lessons:
      - externalId: waves
        title: Waves
  - title: Air
    description: What is above
    lessons:
      - title: Wind
        durationMinutes: 45
        contentBlocks:
          - type: code
            body: |
              if wind:
              	sail()
        assessments:
          - type: quiz
            title: Q
            questions:
              - type: true_false
                prompt: Wet?
                answer: true
lessons:
  - title: Welcome
    order: 1
`)
    const json = await local.run('courses get ext:BIO-101 --with-lessons -o json')
    expect(JSON.parse(json.stdout)).toEqual(parse(stdout))
  })

  test('prints every lesson, however many pages they take', { tags: ['slow'] }, async ({ local }) => {
    await courseWithLessons(local)
    const rows = Array.from({ length: 230 }, (_, index) => `ext:BIO-101,Lesson ${index}\n`)
    await local.run('lessons import -', { stdin: `courseId,title\n${rows.join('')}` })
    const { stdout } = await local.run('courses get ext:BIO-101 --with-lessons -o json')
    const { lessons } = JSON.parse(stdout) as { lessons: { title: string }[] }
    expect(lessons).toHaveLength(231)
    expect(lessons.at(-1)).toMatchObject({ title: 'Lesson 229' })
  })

  test('needs a format that can hold them', async ({ local }) => {
    const { code, stderr } = await local.run('courses get ext:a --with-lessons')
    expect(code).toBe(2)
    expect(stderr).toContain('--with-lessons requires -o yaml or -o json')
    expect(await local.run('courses get ext:a --with-lessons -q')).toMatchObject({ code: 2 })
  })
})

test('a text of nothing but spaces and line ends stays what it is', { tags: ['slow'] }, async ({ local }) => {
  for (const description of [' \n', '\n\n', '\n ', 'a\n\t\n', '\ta\nb']) {
    const body = JSON.stringify({ externalId: 'x', title: 'T', description })
    await local.run('courses import - --format jsonl', { stdin: body })
    const { stdout } = await local.run('courses get ext:x --with-lessons -o yaml')
    expect(parse(stdout)).toEqual({ externalId: 'x', title: 'T', status: 'draft', description })
  }
})
