import { deviceGrantType } from '../../../src/contract/oauth.ts'
import type { Answer, Person } from '../../helpers/academy.ts'
import type { Shown } from '../../helpers/browser.ts'
import { type Flow, givePassword, password } from './flow.ts'

/** A device that shows a code, and the actions of the user on the page. */
export interface Device {
  /** Requests the codes. */
  start(scope?: string): Promise<Answer>
  /** Requests the tokens. */
  poll(deviceCode: string): Promise<Answer>
  /** Opens the page, signs in and enters the code; returns the next page. */
  type(person: Person, userCode: string): Promise<Shown>
}

/** Creates a device whose user has the browser of this flow. */
export function openDevice(flow: Flow, academy: Parameters<typeof givePassword>[0]): Device {
  const client_id = 'learnctl'
  return {
    start: (scope) => flow.send('/oauth/device_authorization', { client_id, scope }),
    poll: (device_code) => flow.send('/oauth/token', { grant_type: deviceGrantType, client_id, device_code }),
    async type(person, user_code) {
      await givePassword(academy, person.id)
      const page = await flow.browser.open('/oauth/device')
      const asks = page.forms.some(({ fields }) => 'password' in fields)
      const form = asks ? await flow.browser.signIn(page, person.email, password) : page
      return flow.browser.submit(form, { user_code }, 'Continue')
    },
  }
}
