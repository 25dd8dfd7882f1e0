import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'

const sea = {
  externalId: 'sea',
  title: 'Sea',
  lessons: ['ebb', 'flow', 'spring'].map((title) => ({ externalId: title, title, description: 'old' })),
}
const changed = {
  ...sea,
  title: 'Seas',
  modules: [{ title: 'Tides', lessons: [{ externalId: 'neap', title: 'neap' }] }],
  lessons: [...sea.lessons].reverse().map((lesson) => ({ ...lesson, description: 'new' })),
}

async function save(cli: TestCli, course: object, flags = '') {
  writeFileSync(join(cli.cwd, 'sea.json'), JSON.stringify(course))
  const ran = await cli.run(`courses apply -f sea.json --plan-out plan.jsonl ${flags}`)
  expect(ran.code, ran.stderr).toBe(0)
  return ran
}

describe('a saved plan of a course', () => {
  test('changes nothing until it is carried out, without its file', async ({ local }) => {
    await local.run('courses apply -f -', { stdin: JSON.stringify(sea) })
    const before = await local.run('courses get ext:sea --with-lessons -o json')
    expect(await save(local, changed)).toMatchObject({
      stderr: 'Saved the plan to plan.jsonl: 1 course, 4 lesson changes\n',
    })
    expect(await local.run('courses get ext:sea --with-lessons -o json')).toEqual(before)
    writeFileSync(join(local.cwd, 'sea.json'), '{}')
    const ran = await local.run('courses apply --plan plan.jsonl')
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('Updated course Seas (sea): 1 lesson created, 3 updated\n')
    const { stdout } = await local.run('courses get ext:sea --with-lessons -o json')
    expect(JSON.parse(stdout)).toMatchObject(changed)
    expect((await local.run('courses apply --plan plan.jsonl')).stderr).toBe(
      'note: The plan plan.jsonl has been applied already\nNo changes to course Seas (sea)\n',
    )
  })

  test('keeps its options, and is given alone', async ({ local }) => {
    await local.run('courses apply -f -', { stdin: JSON.stringify(sea) })
    await save(local, { ...sea, lessons: sea.lessons.slice(0, 1) }, '--prune')
    for (const flags of ['-f sea.json', '--prune', '--plan-out other.jsonl']) {
      expect((await local.run(`courses apply --plan plan.jsonl ${flags}`)).code).toBe(2)
    }
    expect((await local.run('courses apply --plan plan.jsonl')).code).toBe(2)
    const ran = await local.run('courses apply --plan plan.jsonl --yes')
    expect(ran.stderr).toContain('Updated course Sea (sea): 2 lessons deleted')
    expect((await local.run('apply --plan plan.jsonl --yes')).stderr).toContain(
      'plan.jsonl is a plan for learnctl courses apply',
    )
  })

  test('is refused where a lesson has been changed since', async ({ local }) => {
    await local.run('courses apply -f -', { stdin: JSON.stringify(sea) })
    await save(local, changed)
    await local.run('lessons update ext:flow --description other')
    const ran = await local.run('courses apply --plan plan.jsonl')
    expect(ran).toMatchObject({ code: 6, stdout: '' })
    expect(ran.stderr).toContain(
      'error: The academy has changed since the plan was made\n  Cannot update lesson ext:flow as planned; nothing was changed\n',
    )
    expect((await local.run('courses get ext:sea --columns title')).stdout).toBe('Sea\n')
  })

  test('leaves alone what has changed beside it', async ({ local }) => {
    await local.run('courses apply -f -', { stdin: JSON.stringify(sea) })
    await save(local, { ...sea, title: 'Seas' })
    await local.run('lessons update ext:flow --description other')
    await local.run('lessons move ext:spring --position 1')
    const ran = await local.run('courses apply --plan plan.jsonl')
    expect(ran.stderr).toBe('~ course Seas (sea)\n    title: "Sea" → "Seas"\nUpdated course Seas (sea)\n')
    const { stdout } = await local.run('lessons list --course ext:sea --columns order,title,description')
    expect(stdout).toBe('1\tspring\told\n2\tebb\told\n3\tflow\tother\n')
  })
})
