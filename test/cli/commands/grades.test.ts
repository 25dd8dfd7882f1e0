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
  const set = 'grades set ext:1 --course ext:LOG --item exam --maximum 20'
  expect(await local.run(`${set} --score 17`)).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^grd_\w+\n$/),
    stderr: 'Set the grade of learner ada@b.example for exam in course Logic to 17 of 20\n',
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
  expect(asked.stderr).toContain(
    'Delete the grade 18 of 20 of learner ada@b.example for exam in course Logic',
  )
  expect((await local.run(`grades get ${id}`)).code).toBe(3)
})

test('a grade is cleared by score none, and one that is not published does not count', async ({ local }) => {
  await fill(local)
  const set = 'grades set ext:1 --course ext:LOG --item exam'
  expect((await local.run(`${set} --score 50 --no-published`)).stderr).toBe(
    'Set the grade of learner ada@b.example for exam in course Logic to 50 of 100, not published\n',
  )
  const percent = async () =>
    (await local.run('analytics export --columns gradePercent,passed')).stdout.split('\r\n')[1]
  expect(await percent()).toBe(',')
  await local.run(`${set} --score 50 --published`)
  expect(await percent()).toBe('50,false')
  expect((await local.run(`${set} --score none`)).stderr).toBe(
    'Cleared the grade of learner ada@b.example for exam in course Logic\n',
  )
  expect(await percent()).toBe(',')
  const refused = await local.run(`${set} --score nothing`)
  expect(refused.stderr).toContain('--score must be a number, not "nothing"')
})

test('a correction keeps weight, maximum and source everywhere', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const set = 'grades set --learner ext:1 --course ext:LOG --item'
  await local.run(`${set} tma --score 80 --weight 50`)
  await local.run(`${set} exam --source examples --score 16 --maximum 20 --weight 50 --label Exam`)
  expect(await local.run(`${set} exam --score 4`)).toMatchObject({
    code: 0,
    stderr: 'Set the grade of learner ada@b.example for exam in course Logic to 4 of 20\n',
  })
  const percent = async () => (await local.run('analytics export --columns gradePercent')).stdout
  expect(await percent()).toContain('50')
  writeFileSync(
    join(local.cwd, 'g.csv'),
    'learnerId,courseId,itemId,scoreGiven,weight\next:1,ext:LOG,exam,8,\n',
  )
  expect((await local.run('grades import g.csv')).stderr).toContain('1 updated')
  expect(await percent()).toContain('60')
  writeFileSync(join(local.cwd, 'q.csv'), 'learnerId,courseId,itemId,scoreGiven\next:1,ext:LOG,quiz,8\n')
  expect((await local.run('grades import q.csv')).stderr).toContain(
    'note: Warning for 1 row: Item quiz has no weight',
  )
  const { stdout } = await local.run('grades list --columns itemId,source,weight,label')
  expect(stdout.split('\n').sort()).toEqual([
    '',
    'exam\texamples\t50\tExam',
    'quiz\tmanual\t\t',
    'tma\tmanual\t50\t',
  ])

  const { stderr } = await local.run(`${set} quiz --score 5`)
  expect(stderr).toContain('note: Item quiz has no weight, while other items of this learner have one')
  await local.run(`${set} exam --source canvas --score 9`)
  const refused = await local.run(`${set} exam --score 9`)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(
    '--source must be given: there is a grade of this item from each of canvas, examples',
  )
})

test('weights without items, and items without one, are told', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const weighted = (name: string, other: string) =>
    JSON.stringify([
      { name, weight: 70 },
      { name: other, weight: 30 },
    ])
  const weigh = (name: string, other: string) =>
    local.run('courses update LOG --body -', {
      stdin: `{"assessmentCriteria":{"weights":${weighted(name, other)}}}`,
    })
  expect((await weigh('before', 'grades')).stderr).not.toContain('note:')
  await local.run('grades set ext:1 --course ext:LOG --item exam --score 80')
  await local.run('grades set ext:1 --course ext:LOG --item quiz --score 20')
  const noItem = 'No item is named exma: its weight has no effect on the grades of 1 learner.'
  const unweighted = 'Item exam has no weight, while others have one: it does not count for 1 learner.'
  expect((await weigh('exma', 'quiz')).stderr).toBe(
    `Updated course Logic (LOG), version 3\nnote: ${noItem} ${unweighted}\n`,
  )
  expect((await weigh('exam', 'quiz')).stderr).toBe('Updated course Logic (LOG), version 4\n')
  const criteria = `assessmentCriteria: {weights: ${weighted('exma', 'quiz')}}`
  writeFileSync(join(local.cwd, 'c.yaml'), `title: Logic\nexternalId: LOG\n${criteria}\nlessons: []\n`)
  const notes = `note: Course Logic (LOG): ${noItem}\nnote: Course Logic (LOG): ${unweighted}\n`
  for (const line of ['apply --dry-run', 'apply']) {
    const { stderr } = await local.run(`courses ${line} -f c.yaml`)
    expect(stderr.split('note: '), line).toHaveLength(3)
    expect(stderr, line).toContain(notes)
  }
  await weigh('exam', 'quiz')
  writeFileSync(
    join(local.cwd, 'a.yaml'),
    `learnctl: 1\ncourses:\n  - {externalId: LOG, title: Logic, ${criteria}}\n`,
  )
  for (const line of ['apply --dry-run', 'apply --yes']) {
    const { stderr } = await local.run(`${line} a.yaml`)
    expect(stderr.split('note: '), line).toHaveLength(3)
    expect(stderr, line).toContain(notes)
  }
})

test('a score above the maximum takes a yes or --extra-credit', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const set = 'grades set ext:1 --course ext:LOG --item'
  await local.run(`${set} exam --score 17 --maximum 20`)
  const refused = await local.run(`${set} exam --score 27`)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('--score must be at most the maximum, 20, unless it is extra credit')
  expect(refused.stderr).toContain('hint: Record it as extra credit with --extra-credit')
  const score = async (item: string) =>
    (await local.run(`grades list --item ${item} --columns scoreGiven,scoreMaximum`)).stdout
  expect(await score('exam')).toBe('17\t20\n')
  const asked = await local.run(`${set} exam --score 27`, { tty: 100, typed: ['n\n'] })
  expect(asked.stderr).toContain('Record a score of 27 as extra credit')
  expect(await score('exam')).toBe('17\t20\n')
  await local.run(`${set} exam --score 27`, { tty: 100, typed: ['y\n'] })
  expect(await score('exam')).toBe('27\t20\n')
  await local.run(`${set} exam --score 28 --extra-credit`)
  expect(await score('exam')).toBe('28\t20\n')

  const csv = (extra: string, cell: string) =>
    writeFileSync(
      join(local.cwd, 'g.csv'),
      `learnerId,courseId,itemId,scoreGiven,scoreMaximum${extra}\next:1,ext:LOG,essay,27,20${cell}\next:1,ext:LOG,exam,29,${cell}\n`,
    )
  csv('', '')
  const checked = await local.run('grades import g.csv')
  expect(checked.code).toBe(2)
  expect(checked.stderr).toContain('must be at most the maximum, 20, unless it is extra credit')
  expect(await score('essay')).toBe('')
  expect((await local.run('grades import g.csv --extra-credit')).stderr).toContain('1 created, 1 updated')
  expect(await score('essay')).toBe('27\t20\n')
  csv(',extraCredit', ',true')
  expect((await local.run('grades import g.csv')).code).toBe(0)
  // Problems that only the academy can find are refused row by row.
  writeFileSync(join(local.cwd, 'h.csv'), 'learnerId,courseId,itemId,scoreGiven\next:1,ext:LOG,exam,30\n')
  expect((await local.run('grades import h.csv')).code).toBe(8)
  const exported = await local.run('grades export')
  expect(exported.stdout).toContain('extraCredit')
  writeFileSync(join(local.cwd, 'e.csv'), exported.stdout)
  expect((await local.run('grades import e.csv')).stderr).toContain('2 unchanged')
})

test('an export can be imported elsewhere and exported alike', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  await local.run('grades set --learner ext:1 --course ext:LOG --item =1+1 --score 0.1')
  await local.run('grades set ext:1 --course ext:LOG --score 81.25 --label Überblick,"5" --weight 30')
  const set = 'grades set ext:1 --course ext:LOG --item'
  expect(await local.run(`${set} cleared --score none`)).toMatchObject({ code: 0 })
  const hidden = await local.run(`${set} hidden --score 120 --no-published --extra-credit`)
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
