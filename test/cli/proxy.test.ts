import { expect } from 'vitest'
import { test } from '../helpers/cli.ts'

test.for([
  [
    'http://ada:analytical/engine@proxy.example',
    'must be the URL of a proxy, such as http://proxy.example:3128',
  ],
  ['socks5://127.0.0.1:1', 'must be the URL of an http or https proxy; socks5 proxies are not supported'],
])('a proxy variable that is %s is refused, and not shown', async ([value = '', reason], { cli }) => {
  const { code, stderr } = await cli.run('courses list --debug', {
    env: { LEARNCTL_URL: 'https://academy.example', LEARNCTL_API_KEY: 'lpk_key', HTTPS_PROXY: value },
  })
  expect(code).toBe(2)
  expect(stderr).toContain(`error: HTTPS_PROXY ${reason}\n`)
  expect(stderr).not.toContain('analytical')
})
