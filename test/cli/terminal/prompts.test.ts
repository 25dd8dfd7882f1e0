import { describe, expect } from 'vitest'
import { type RunOptions, test } from '../../helpers/cli.ts'

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

  test('is asked for when it is an argument', async ({ local }) => {
    const id = (await local.run('courses create --title Go -q')).stdout
    const { code, stderr } = await local.run('courses publish', { tty: 80, typed: [`${id.trim()}\r`] })
    expect(code).toBe(0)
    expect(stderr).toContain('Course:')
  })

  test.for<[reason: string, flags: string, given: RunOptions]>([
    ['input is not a terminal', '', {}],
    ['--no-input', '--no-input', { tty: 80 }],
    ['CI', '', { tty: 80, env: { CI: 'true' } }],
    ['LEARNCTL_NO_INPUT', '', { tty: 80, env: { LEARNCTL_NO_INPUT: '1' } }],
  ])('is refused because of %s', async ([reason, flags, given], { local }) => {
    const { code, stdout, stderr } = await local.run(`courses create ${flags}`, given)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('missing --title')
    expect(stderr).toContain(reason)
  })

  test('is not asked for once the question is broken off', async ({ local }) => {
    const { code, stdout } = await local.run('courses create', { tty: 80, typed: ['\u0003'] })
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect((await local.run('courses list -q')).stdout).toBe('')
  })
})

describe('something destructive', () => {
  const create = 'courses create --title Go --external-id go -q'

  test('is done after a yes to a question that names the thing and the place', async ({ local }) => {
    await local.run(create)
    const { code, stderr } = await local.run('courses delete ext:go', { tty: 200, typed: ['y\r'] })
    expect(code).toBe(0)
    expect(stderr).toContain(`Delete course ext:go at ${local.cwd}/academy.db?`)
    expect((await local.run('courses list -q')).stdout).toBe('')
  })

  test.for([['n\r'], ['\r']])('is not done after %j', async ([answer = ''], { local }) => {
    await local.run(create)
    const { code } = await local.run('courses delete ext:go', { tty: 80, typed: [answer] })
    expect(code).toBe(1)
    expect((await local.run('courses list -q')).stdout).not.toBe('')
  })

  test('needs --yes without a terminal', async ({ local }) => {
    await local.run(create)
    const refused = await local.run('courses delete ext:go')
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('hint: add --yes') })
    expect((await local.run('courses list -q')).stdout).not.toBe('')
    expect(await local.run('courses delete ext:go --yes')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'note: deleted course ext:go\n',
    })
  })
})
