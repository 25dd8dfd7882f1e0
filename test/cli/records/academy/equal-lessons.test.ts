import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'
import { resultOf } from '../../../helpers/result.ts'

interface Lesson {
  readonly externalId?: string
  readonly title: string
  readonly description?: string
}

function writeCourse({ cwd }: TestCli, modules: Readonly<Record<string, readonly Lesson[]>>): void {
  const course = {
    externalId: 'sea',
    title: 'Sea',
    modules: Object.entries(modules).map(([title, lessons]) => ({ title, lessons })),
  }
  writeFileSync(join(cwd, 'academy.json'), JSON.stringify({ learnctl: 1, courses: [course] }))
}

const quiz = (description: string): Lesson => ({ title: 'Quiz', description })
const first = { Shore: [quiz('one'), { title: 'Text' }, quiz('two')], Deep: [quiz('three')] }

async function lessonsOf(cli: TestCli): Promise<string> {
  return (await cli.run('lessons list --course ext:sea --columns order,title,description')).stdout
}

describe('lessons without external ids', () => {
  test('are told apart by module, title and their place among equals', { tags: ['slow'] }, async ({
    local,
  }) => {
    writeCourse(local, first)
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    expect(await lessonsOf(local)).toBe('1\tQuiz\tone\n2\tText\t\n3\tQuiz\ttwo\n4\tQuiz\tthree\n')
    expect(await local.run('diff')).toMatchObject({ code: 0 })
    writeCourse(local, { ...first, Shore: [quiz('one'), { title: 'Text' }, quiz('changed')] })
    const { code, stdout } = await local.run('diff')
    expect(code).toBe(9)
    expect(stdout).toContain('  ~ ext:sea, Shore, Quiz, 2  Quiz\n      description: "two" → "changed"\n')
    expect(stdout).toContain('0 to create, 1 to change, 0 to delete; 4 as declared\n')
  })

  test('stay the same ones where their module is renamed, others are added between them, and places change', {
    tags: ['slow'],
  }, async ({ local }) => {
    writeCourse(local, first)
    await local.run('apply --yes')
    const idsOf = async () =>
      (await local.run('lessons list --course ext:sea --columns id')).stdout.trim().split('\n')
    const [one, text, two, three] = await idsOf()
    writeCourse(local, {
      Beach: [quiz('one'), quiz('two'), quiz('new'), { title: 'Text' }],
      Deep: [quiz('three')],
    })
    // The course and the lesson with another place change: lessons keep their module under its new title.
    const { stdout } = await local.run('diff')
    expect(stdout).not.toContain('module:')
    expect(stdout).toContain('1 to create, 2 to change, 0 to delete; 3 as declared\n')
    expect(await local.run('apply --yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 created'),
    })
    const listed = (await lessonsOf(local)).replace(/^\d+\t/gm, '')
    expect(listed).toBe('Quiz\tone\nQuiz\ttwo\nQuiz\tnew\nText\t\nQuiz\tthree\n')
    expect(await idsOf()).toEqual([one, two, expect.any(String), text, three])
    expect(await local.run('diff')).toMatchObject({ code: 0 })
  })

  test('that are there twice are reported by diff and apply, and are no changes', { tags: ['slow'] }, async ({
    local,
  }) => {
    writeCourse(local, first)
    await local.run('apply --yes')
    const { modules } = await resultOf(local, 'courses get ext:sea')
    const created = `lessons create --course ext:sea --title Quiz --module ${modules[0].id} -q`
    const id = (await local.run(created)).stdout.trim()
    expect(id, (await local.run(created)).stderr).toMatch(/^les_/)
    const { code, stdout, stderr } = await local.run('diff')
    expect(code).toBe(0)
    expect(stdout).toBe('No changes; 5 as declared\n')
    expect(stderr).toMatch(
      /^note: 2 lessons of course ext:sea have the module and title of a declared lesson, which is there as well; delete what is not needed: learnctl lessons delete <id>: Quiz \(les_\w+\), Quiz \(les_\w+\)\n$/,
    )
    expect(stderr).toContain(id)
    const applied = await local.run('apply --yes')
    expect(applied).toMatchObject({ code: 0, stderr: `${stderr}No changes; 5 as declared\n` })
    const data = JSON.parse((await local.run('diff -o json')).stdout)
    expect(data.undeclared).toHaveLength(2)
    expect(data.undeclared[0]).toMatchObject({
      dataset: 'lessons',
      course: 'ext:sea',
      title: 'Quiz',
      isDuplicate: true,
    })
  })

  test('and others that are not declared are reported, and kept', async ({ local }) => {
    writeCourse(local, first)
    await local.run('apply --yes')
    const { id } = await resultOf(local, 'lessons create --course ext:sea --title Extra --external-id extra')
    const { code, stderr } = await local.run('diff')
    expect(code).toBe(0)
    expect(stderr).toBe(`note: 1 lesson of course ext:sea is not declared and is kept: Extra (${id})\n`)
    expect((await local.run('apply --yes')).stderr).toContain(stderr)
    expect(await lessonsOf(local)).toContain('5\tExtra\t\n')
  })

  test('that are not declared stay behind the one that they follow, and are no difference', {
    tags: ['slow'],
  }, async ({ local }) => {
    const lessons = ['one', 'two', 'three'].map((title) => ({ title, externalId: title }))
    writeCourse(local, { Shore: lessons })
    await local.run('apply --yes')
    await local.run('lessons create --course ext:sea --title Extra --body -', { stdin: 'order: 2' })
    expect(await lessonsOf(local)).toBe('1\tone\t\n2\tExtra\t\n3\ttwo\t\n4\tthree\t\n')
    const compared = await local.run('diff')
    expect(compared).toMatchObject({ code: 0, stdout: 'No changes; 4 as declared\n' })
    const [one, two, three] = lessons
    writeCourse(local, {
      Shore: [three, one, { title: 'new', externalId: 'new' }, two].flatMap((each) => each ?? []),
    })
    const { stdout } = await local.run('diff')
    expect(stdout).toContain('  ~ ext:three\n      order: 4 → 1\n')
    expect(stdout).toContain('1 to create, 1 to change, 0 to delete; 3 as declared\n')
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    const titles = (await local.run('lessons list --course ext:sea --columns title')).stdout
      .trim()
      .split('\n')
    expect(titles).toEqual(['three', 'one', 'Extra', 'new', 'two'])
    expect(await local.run('diff')).toMatchObject({ code: 0 })
  })

  test('are the same ones under a new title, and with an external id of their own', async ({ local }) => {
    writeCourse(local, { Shore: [{ title: 'Ebb', description: 'one' }, { title: 'Text' }] })
    await local.run('apply --yes')
    const before = (await local.run('lessons list --course ext:sea --columns id')).stdout
    writeCourse(local, {
      Shore: [
        { title: 'Flow', description: 'one' },
        { title: 'Text', externalId: 'text' },
      ],
    })
    const { stdout } = await local.run('diff')
    expect(stdout).toContain('      title: "Ebb" → "Flow"\n')
    expect(stdout).toContain('      externalId: none → "text"\n')
    expect(stdout).toContain('0 to create, 2 to change, 0 to delete; 1 as declared\n')
    expect(await local.run('apply --yes')).toMatchObject({ code: 0 })
    expect((await local.run('lessons list --course ext:sea --columns id')).stdout).toBe(before)
    expect(await local.run('diff')).toMatchObject({ code: 0 })
  })
})

test('a deleted lesson that keeps its external id is restored by apply, at the place that is declared', {
  tags: ['slow'],
}, async ({ local }) => {
  const lessons = ['one', 'two', 'three'].map((externalId) => ({
    title: externalId,
    externalId,
    description: 'x',
  }))
  writeCourse(local, { Shore: lessons })
  await local.run('apply --yes')
  const { id } = await resultOf(local, 'lessons get ext:two')
  await local.run('lessons delete ext:two --yes')
  writeCourse(local, { Shore: [...lessons].reverse().map((each) => ({ ...each, description: 'new' })) })
  const applied = await local.run('apply --yes')
  expect(applied, applied.stderr).toMatchObject({ code: 0 })
  expect((await resultOf(local, 'lessons get ext:two')).id).toBe(id)
  expect(await lessonsOf(local)).toBe('1\tthree\tnew\n2\ttwo\tnew\n3\tone\tnew\n')
  expect(await local.run('diff')).toMatchObject({ code: 0 })
})
