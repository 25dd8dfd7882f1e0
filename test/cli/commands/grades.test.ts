import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'

async function fill(cli: TestCli): Promise<void> {
  await cli.run('courses create --title Logic --external-id LOG --status published')
  await cli.run('users create --email ada@b.example --external-id 1')
  await cli.run('enrollments create --course ext:LOG --user ext:1')
}

test('a grade is recorded, shown, changed and deleted', async ({ local }) => {
  await fill(local)
  const set = 'grades set --learner ext:1 --course ext:LOG --item exam --maximum 20'
  expect(await local.run(`${set} --score 17`)).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^grd_\w+\n$/),
    stderr: 'Set the grade of learner ext:1 for exam in course ext:LOG to 17 of 20\n',
  })
  const id = (await local.run('grades list --learner ext:1 -q')).stdout.trim()
  expect((await local.run(`grades get ${id} --columns userEmail,itemId,percent`)).stdout).toBe(
    'ada@b.example\texam\t85\n',
  )
  await local.run(`${set} --score 18`)
  expect((await local.run(`grades history ${id} --columns version,scoreGiven`)).stdout).toBe('2\t18\n1\t17\n')
  const exported = await local.run('analytics export --columns gradePercent,passed')
  expect(exported.stdout).toBe('gradePercent,passed\r\n90,true\r\n')
  expect(await local.run(`grades delete ${id}`)).toMatchObject({ code: 2 })
  const asked = await local.run(`grades delete ${id}`, { tty: 100, typed: ['y\n'] })
  expect(asked.stderr).toContain('Delete the grade 18 of 20 of ada@b.example for exam in course Logic')
  expect((await local.run(`grades get ${id}`)).code).toBe(3)
})

test('a grade of an earlier day is refused', async ({ local }) => {
  await fill(local)
  const set = 'grades set --learner ext:1 --course ext:LOG --score 50'
  await local.run(`${set} --graded-at 2026-02-02`)
  const refused = await local.run(`${set} --graded-at 2026-02-01`)
  expect(refused.code).toBe(6)
  expect(refused.stderr).toContain('The stored grade is newer')
})

test('a grade is cleared by score none, and one that is not published does not count', async ({ local }) => {
  await fill(local)
  const set = 'grades set --learner ext:1 --course ext:LOG --item exam'
  expect((await local.run(`${set} --score 50 --no-published`)).stderr).toBe(
    'Set the grade of learner ext:1 for exam in course ext:LOG to 50 of 100, not published\n',
  )
  const percent = async () =>
    (await local.run('analytics export --columns gradePercent,passed')).stdout.split('\r\n')[1]
  expect(await percent()).toBe(',')
  await local.run(`${set} --score 50`)
  expect(await percent()).toBe('50,false')
  expect((await local.run(`${set} --score none`)).stderr).toBe(
    'Cleared the grade of learner ext:1 for exam in course ext:LOG\n',
  )
  expect(await percent()).toBe(',')
  const refused = await local.run(`${set} --score nothing`)
  expect(refused.stderr).toContain('--score must be a number, not "nothing"')
})

test('grades are imported, and a second time nothing changes', async ({ local }) => {
  await fill(local)
  const csv =
    'learnerId,courseId,itemId,scoreGiven,scoreMaximum,gradedAt\next:1,ext:LOG,essay,17,20,2026-02-20\next:9,ext:LOG,essay,1,20,2026-02-20\n'
  writeFileSync(join(local.cwd, 'g.csv'), csv)
  const first = await local.run('grades import g.csv')
  expect(first.code).toBe(8)
  expect(first.stderr).toContain('Imported 1 row of 2 from g.csv: 1 created, 1 failed')
  expect((await local.run('grades import g.csv')).stderr).toContain('1 unchanged, 1 failed')
})

test('what is exported is imported elsewhere, and exported there as the same file', async ({ local }) => {
  await fill(local)
  await local.run([
    'grades',
    'set',
    '--learner',
    'ext:1',
    '--course',
    'ext:LOG',
    '--item',
    '=1+1',
    '--score',
    '0.1',
  ])
  await local.run(
    'grades set --learner ext:1 --course ext:LOG --score 81.25 --label Überblick,"5" --weight 30',
  )
  const set = 'grades set --learner ext:1 --course ext:LOG --item'
  expect(await local.run(`${set} cleared --score none`)).toMatchObject({ code: 0 })
  const hidden = await local.run(`${set} hidden --score 120 --no-published`)
  expect(hidden, hidden.stderr).toMatchObject({ code: 0 })
  const nouns = ['users', 'courses', 'enrollments', 'grades']
  for (const noun of nouns) await local.run(`${noun} export --file ${noun}.csv`)
  const there = (line: string) => local.run(`${line} --database ${join(local.home, 'other.db')}`)
  for (const noun of nouns) {
    const ran = await there(`${noun} import ${noun}.csv`)
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
  }
  const { stdout } = await there('grades export')
  expect(stdout).toBe((await local.run('grades export')).stdout)
  expect(stdout.split('\r\n')).toHaveLength(6)
  expect(stdout).toContain('cleared,manual,,null,100,,')
})
