import { beforeEach, describe, expect } from 'vitest'
import { type RunOptions, type TestCli, test } from '../../helpers/cli.ts'
import { ran, resultOf } from '../../helpers/result.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

/** Types a text once the terminal shows `sign`. */
function typeOnce(sign: string, text: string): NonNullable<RunOptions['onStderr']> {
  let left = true
  return (printed, type) => {
    if (!left || !printed.includes(sign)) return
    left = false
    type(text)
  }
}

describe('a missing value', () => {
  test('is asked for on a terminal', async ({ local }) => {
    const { code, stdout, stderr } = await local.run('courses create -o json', {
      tty: 80,
      typed: ['Sea life\r'],
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Sea life' })
    expect(stderr).toContain('Title:')
  })

  test('is asked for when it is an argument', { tags: ['slow'] }, async ({ local }) => {
    const id = (await local.run('courses create --title Go -q')).stdout
    const { stderr } = await ran(local, 'courses publish', 0, { tty: 80, typed: [`${id.trim()}\r`] })
    expect(stderr).toContain('Course (type to search)')
  })

  test('is asked for again where it is not a value', async ({ local }) => {
    await local.run('courses create --title Go --external-id go')
    const refused = await local.run('courses diff ext:go', {
      tty: 80,
      typed: ['latest\r'],
      onStderr: typeOnce('<version> must be', '\u0003'),
    })
    expect(refused.code).toBe(130)
    expect(refused.stderr).toContain('> <version> must be a whole number, 1 or more, not "latest"')
    const typed = await local.run('progress set email:admin@academy.local --course ext:go', {
      tty: 80,
      typed: ['half\r'],
      onStderr: typeOnce('must be a number', '\u001550\r'),
    })
    expect(typed).toMatchObject({ code: 0, stderr: expect.stringContaining('to 50%\n') })
  })

  test('is asked for once the references of the line are found', async ({ local }) => {
    await local.run('courses create --title "Sea life" --external-id sea')
    const line = 'lessons create --course "Sea life"'
    const { stderr } = await ran(local, line, 3, { tty: 120, typed: ['Tides\r'] })
    expect(stderr).toContain('A title is no reference: use ext:sea')
    expect(stderr).not.toContain('Title:')
  })

  test.for<[reason: string, flags: string, given: RunOptions]>([
    ['input is not a terminal', '', {}],
    ['--no-input', '--no-input', { tty: 80 }],
    ['CI', '', { tty: 80, env: { CI: 'true' } }],
    ['LEARNCTL_NO_INPUT', '', { tty: 80, env: { LEARNCTL_NO_INPUT: '1' } }],
  ])('is refused because of %s', async ([reason, flags, given], { local }) => {
    const { code, stdout, stderr } = await local.run(`courses create ${flags}`, given)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('--title is required')
    expect(stderr).toContain(reason)
  })

  test('is not asked for once the question is broken off', async ({ local }) => {
    const { code, stdout } = await local.run('courses create', { tty: 80, typed: ['\u0003'] })
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect((await local.run('courses list -q')).stdout).toBe('')
  })
})

describe('something destructive', () => {
  const create = 'users create --email ada@school.example --external-id ada -q'
  const deleted = async (local: TestCli) => !(await local.run('users list')).stdout.includes('ada@')

  test('is done after a yes to a question that names the thing and the place', async ({ local }) => {
    await local.run(create)
    const { stderr } = await ran(local, 'users delete ext:ada', 0, { tty: 200, typed: ['y\r'] })
    expect(stderr).toContain(`Delete user ada@school.example in ${local.cwd}/academy.db?`)
    expect(await deleted(local)).toBe(true)
  })

  test.for([['n\r'], ['\r']])('is not done after %j', async ([answer = ''], { local }) => {
    await local.run(create)
    const { stderr } = await ran(local, 'users delete ext:ada', 1, { tty: 80, typed: [answer] })
    expect(stderr).toContain('Cancelled; nothing was changed')
    expect(await deleted(local)).toBe(false)
  })

  test('is done after its name, also when something else was typed first', async ({ local }) => {
    await local.run('courses create --title Go --external-id go')
    const { code, stderr } = await local.run('courses delete ext:go --erase', {
      tty: 80,
      typed: ['Stop\r'],
      onStderr: typeOnce('press Ctrl+C to cancel', 'Go\r'),
    })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('Permanently deleted course Go (go)\n'),
    })
  })

  test.for([
    ['courses delete ext:none', 'Course ext:none not found'],
    ['courses restore ext:none 2', 'Course ext:none not found'],
    ['enrollments delete enr_none', 'Enrolment enr_none not found'],
    ['grades delete grd_none', 'Grade grd_none not found'],
    ['integrations delete moodle', 'Integration moodle not found'],
    ['lessons delete ext:none', 'Lesson ext:none not found'],
    ['users delete ext:none', 'User ext:none not found'],
    ['webhooks endpoints delete whe_none', 'Webhook endpoint whe_none not found'],
  ])('that is not there needs no --yes: %s', async ([line = '', message], { local }) => {
    expect((await ran(local, line, 3)).stderr).toContain(`error: ${message}\n`)
  })

  test('needs --yes without a terminal', async ({ local }) => {
    await local.run(create)
    const refused = await local.run('users delete ext:ada')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('error: Refusing to delete user ext:ada without confirmation\n')
    expect(refused.stderr).toContain('hint: Confirm with --yes')
    expect(await deleted(local)).toBe(false)
    expect(await local.run('users delete ext:ada --yes')).toMatchObject({ code: 0, stdout: '' })
    expect(await deleted(local)).toBe(true)
  })
})

describe('a course or a person', () => {
  beforeEach<{ local: TestCli }>(async ({ local }) => {
    await local.run('courses create --title "Marine Biology" --external-id BIO-101 --status published')
    await local.run('courses create --title Logic --external-id LOG --status published')
    await local.run('users create --email ada@b.example --first-name Ada --last-name Lovelace')
    await local.run('users create --email bob@b.example')
    await local.run('enrollments create ada@b.example bob@b.example --course ext:LOG')
  })

  test.for(
    slowRows([
      ['ada love', 'logi'],
      ['ada@b', 'LOG'],
      ['email:ada@b.example', 'ext:LOG'],
    ]),
  )('is picked from a list that narrows while %s and %s are typed', async ([who, course], { local }) => {
    const { code, stderr } = await local.run('grades set', {
      tty: 120,
      typed: [`${who}\r`, `${course}\r`, '85\r', 'exam-1\r'],
    })
    expect(code).toBe(0)
    expect(stderr).toContain('❯ Ada Lovelace (ada@b.example)')
    expect(stderr).toContain('Set the grade of learner ada@b.example for exam-1 in course Logic to 85 of 100')
  })
})

test('an answer that is refused is asked for again, and the others are kept', async ({ local }) => {
  const { code, stderr } = await local.run('users create', { tty: 80, typed: ['ada\r', 'ada@b.example\r'] })
  expect(stderr).toMatch(/note: .*e-?mail/i)
  expect(stderr.match(/E-mail address:/g)?.length).toBeGreaterThan(1)
  expect(code).toBe(0)
  expect((await local.run('users list --columns email -o csv')).stdout).toContain('ada@b.example')
})

test('a conflict that names an answer asks for it again', async ({ local }) => {
  await local.run('users create --email ada@b.example')
  const { code, stderr } = await local.run('users create', {
    tty: 120,
    typed: ['ada@b.example\r', 'bob@b.example\r'],
  })
  expect(stderr).toMatch(/note: .*ada@b\.example/)
  expect(code).toBe(0)
  expect(stderr).toContain('Created user bob@b.example\n')
})

describe('an argument that was typed', () => {
  test('and names nothing is asked for again, with the reason', async ({ local }) => {
    const { id } = await resultOf(local, 'keys create --name ci')
    const { code, stderr } = await local.run('keys revoke --yes', { tty: 120, typed: ['co\r', 'ci\r'] })
    expect(stderr).toContain('note: API key co not found\n')
    expect(stderr).toContain(`Revoked API key ci (${id})\n`)
    expect(code).toBe(0)
  })

  test('is not asked for again where a flag names nothing', async ({ local }) => {
    const { code, stderr } = await local.run('courses diff nowhere', { tty: 120, typed: ['1\r'] })
    expect({ code, asked: stderr.match(/✔/g)?.length }).toEqual({ code: 3, asked: 1 })
  })
})
