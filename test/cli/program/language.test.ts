import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect } from 'vitest'
import { isDestructive } from '../../../src/cli/command/aliases.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'
import { ran } from '../../helpers/result.ts'

const commands = await Promise.all(
  Object.entries(nouns).map(async ([noun, { load }]) => {
    const loaded = await load(host)
    return 'length' in loaded
      ? loaded.map((command) => ({ path: `${noun} ${command.name}`, command }))
      : [{ path: noun, command: loaded }]
  }),
).then((all) => all.flat())

async function fill(cli: TestCli): Promise<void> {
  await cli.run('courses create --title Logic --external-id LOG --status published')
  for (const name of ['ada', 'bob']) await cli.run(`users create --email ${name}@b.example`)
}

/** Removes what differs between runs from an outcome. */
async function told(cli: TestCli, line: string) {
  const { code, stdout, stderr } = await cli.run(line)
  const plain = (text: string) => text.replaceAll(/\b[a-z]{3}_\w+/g, 'id')
  return { code, stdout: plain(stdout), stderr: plain(stderr) }
}

describe('the listed way', () => {
  test('is named by help, completion and examples; the others are in none of them', async ({ cli }) => {
    const former = /\b(restore-deleted|resend|show|(?<!members )remove)\b/
    expect(commands.filter(({ path, command }) => former.test(path) && !command.unlisted)).toEqual([])
    const examples = commands.flatMap(({ command }) => command.examples ?? [])
    expect(examples.filter((line) => former.test(line) || /--(scope|learner) /.test(line))).toEqual([
      'progress export --history --learner ext:11391 -o jsonl',
      'grades report ext:AAA-2014J --learner ext:65002 -o json',
    ])
    const { stdout } = await cli.run('courses --help')
    expect(stdout).toContain('restore <course...> [version]')
    expect(stdout).not.toContain('restore-deleted')
    expect((await cli.run('grades set --help')).stdout).not.toContain('--learner')
    expect((await cli.run('__complete zsh courses rest')).stdout).toMatch(/^words\nrestore:[^\n]*\n$/)
    expect((await cli.run('__complete zsh profiles sh')).stdout).toBe('words\n')
  })
})

describe('what was said before goes on working', () => {
  test.for([
    [
      'progress set ada@b.example --course ext:LOG --completion 5',
      'progress set --user ada@b.example --course ext:LOG --completion 5',
    ],
    ['progress get ada@b.example', 'progress get --learner ada@b.example'],
    [
      'grades set ada@b.example --course ext:LOG --score 9',
      'grades set --learner ada@b.example --course-id ext:LOG --score-given 9',
    ],
    ['enrollments list --user ada@b.example', 'enrollments list --learner ada@b.example'],
    ['courses list --search Logic', 'courses list --q Logic'],
    ['validate courses.yaml', 'validate -f courses.yaml'],
    ['users import users.csv --dry-run', 'users import -f users.csv --dry-run'],
    ['users import users.csv --dry-run', 'users import --file users.csv --dry-run'],
    ['webhooks deliveries list', 'webhooks inbox list'],
    ['webhooks messages replay msg_1', 'webhooks messages resend msg_1'],
    ['integrations delete moodle --yes', 'integrations remove moodle --yes'],
    ['courses restore ext:GONE', 'courses restore-deleted ext:GONE'],
  ])('%s: %s', async ([listed = '', before = ''], { local }) => {
    await fill(local)
    writeFileSync(join(local.cwd, 'users.csv'), 'email\nada@b.example\n')
    expect(await told(local, before)).toEqual(await told(local, listed))
  })

  test('refuses what is said in both ways', async ({ local }) => {
    const { stderr } = await ran(local, 'users import a.csv -f b.csv', 2)
    expect(stderr).toContain('<file> is given twice: a.csv, b.csv')
  })
})

test('one record is named by its natural key, or by its id', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const key = 'ada@b.example --course ext:LOG'
  await local.run('enrollments create ada@b.example --course ext:LOG')
  await local.run(`grades set ${key} --item exam --score 80`)
  await local.run(`grades set ${key} --item essay --score 70`)
  expect((await local.run(`grades get ${key} --item exam --columns scoreGiven`)).stdout).toBe('80\n')
  const several = await ran(local, `grades get ${key}`, 2)
  expect(several.stderr).toMatch(
    /2 grades of learner ada.*\n {2}--item essay .*\n {2}--item exam .*\n {2}hint: Add --item\n$/,
  )
  expect((await local.run(`grades history ${key} --item exam --columns version`)).stdout).toBe('1\n')
  expect(await local.run(`grades delete ${key} --item exam --yes`)).toMatchObject({
    code: 0,
    stderr: 'Deleted the grade 80 of 100 of learner ada@b.example for exam in course Logic\n',
  })
  expect((await local.run(`grades get ${key} --item exam`)).code).toBe(3)
  expect((await local.run('grades get ada@b.example --item exam')).stderr).toContain('--course is required')
  await local.run('enrollments create --course ext:LOG --user bob@b.example')
  const shown = await local.run('enrollments get --course ext:LOG --user bob@b.example --columns userEmail')
  expect(shown.stdout).toBe('bob@b.example\n')
})

describe('several records', () => {
  test('are enrolled by several arguments, or by --ids', { tags: ['slow'] }, async ({ local }) => {
    await fill(local)
    expect(await local.run('enrollments create ada@b.example bob@b.example --course ext:LOG')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^Enrolled user ada@b\.example in course Logic .*\nEnrolled user bob@b\.example in course Logic .*\n2 enrolments: 2 created\n$/,
      ),
    })
    writeFileSync(join(local.cwd, 'ids'), 'ada@b.example\nbob@b.example\n')
    for (const ids of ['ids', '@ids']) {
      const again = await ran(local, `enrollments create --ids ${ids} --course ext:LOG --if-not-exists`)
      expect(again.stderr).toBe(
        [
          'Enrolment of ada@b.example in course Logic already exists\n',
          'Enrolment of bob@b.example in course Logic already exists\n',
          '2 enrolments: 0 created, 2 already existed\n',
        ].join(''),
      )
    }
    const twice = await ran(
      local,
      'enrollments create ada@b.example --user bob@b.example --course ext:LOG',
      2,
    )
    expect(twice.stderr).toContain('--user and <user> cannot be used together')
  })
})

describe('a verb that destroys something', () => {
  test.for([
    ...['courses move', 'users move', 'courses delte', 'courses resotre', 'auth grants revok', 'server rest'],
    ...['profiles rmove', 'keys revke', 'users earse', 'webhooks endpoints delet', 'api courses.delet'],
  ])('is never guessed: %s', async (line, { local }) => {
    const { stderr } = await ran(local, line, 2)
    const hint = /Did you mean (.*)\?/.exec(stderr)?.[1] ?? ''
    expect(hint.split(' or ').filter(isDestructive)).toEqual([])
    expect(stderr).toContain('hint: ')
  })
})

test('a line on a terminal is broken between words', async ({ local }) => {
  const { stderr } = await local.run('users move', { tty: 40, broken: true })
  expect(
    stripVTControlCharacters(stderr)
      .split('\n')
      .filter((line) => line.length > 40),
  ).toEqual([])
  const refused = await local.run('courses restore ext:GONE', { tty: 50, broken: true })
  expect(refused.stderr).toContain('  hint: To list deleted courses: learnctl\n    courses list --deleted\n')
  expect((await local.run('courses restore ext:GONE')).stderr).toContain('courses list --deleted\n')
})
