import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { run } from '../../helpers/process.ts'
import { expectClearError } from '../../helpers/result.ts'

const latin1 = Buffer.from('{"title": "Café"}', 'latin1')
const fault = 'byte 0xE9 at offset 14 is not UTF-8\n  hint: Save it as UTF-8; for example: iconv '

describe('text that is not UTF-8 is refused, with the offset of its first byte:', () => {
  test.for([
    ['courses create --body @course.json'],
    ['api POST /v1/courses --body @course.json'],
    ['api POST /v1/courses --field title=@course.json'],
    ['api POST /v1/courses --field title=@course.txt'],
  ])('%s', async ([line = ''], { local }) => {
    for (const name of ['course.json', 'course.txt']) writeFileSync(join(local.cwd, name), latin1)
    const ran = await local.run(line)
    expectClearError(ran, 2, /^error: Cannot read course\.(json|txt): /)
    expect(ran.stderr).toContain(fault)
    expect((await local.run('courses list -o json')).stdout).toBe('[]\n')
  })

  test.for([
    ['courses create --body -'],
    ['users create --email a@example.org --password-stdin'],
    ['auth login --with-key --url https://school.example'],
    ['auth login --device --client-secret-stdin --client-id x --url https://school.example'],
  ])('%s', async ([line = ''], { local }) => {
    const ran = await local.run(line, { stdin: latin1 })
    expectClearError(ran, 2, `error: Cannot read standard input: ${fault}`)
  })
})

test('UTF-16, as some shells write it, is called by its name', async ({ local }) => {
  const ran = await local.run('courses create --body -', { stdin: Buffer.from('\uFEFF{}', 'utf16le') })
  expectClearError(ran, 2, 'error: Cannot read standard input: it is UTF-16, not UTF-8\n')
})

describe('a file that its user names', () => {
  test('may be a pipe, as <(…) of a shell is', { tags: ['slow'] }, async ({ local }) => {
    const pipe = join(local.cwd, 'pipe')
    execFileSync('mkfifo', [pipe])
    const writing = run('sh', ['-c', 'echo "title: Sea" > "$0"', pipe])
    expect(await local.run('courses create --body @pipe')).toMatchObject({ code: 0 })
    expect(await writing).toMatchObject({ code: 0 })
  })

  test('is refused before it is read where it is too large', async ({ local }) => {
    const file = join(local.cwd, 'large.json')
    writeFileSync(file, '')
    truncateSync(file, 1024 ** 3)
    expectClearError(
      await local.run('courses create --body @large.json'),
      2,
      'error: large.json is larger than 64 MiB\n',
    )
  })

  test('is read no further than that where it has no end', { tags: ['slow'] }, async ({ local }) => {
    symlinkSync('/dev/zero', join(local.cwd, 'zero.json'))
    expectClearError(
      await local.run('courses create --body @zero.json'),
      2,
      'error: zero.json is larger than 64 MiB\n',
    )
  })
})
