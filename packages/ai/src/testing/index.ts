// What tests of this package and of its users share: a scripted model, and a server that plays a provider.

export { Hold, hold } from "./hold.js";
export {
  type ReplayReply,
  type ReplayRequest,
  ReplayServer,
  type ReplayStep,
  startReplayServer,
} from "./replay-server.js";
export {
  fail,
  type Script,
  ScriptedModel,
  type ScriptedRequest,
  type ScriptStep,
  scriptedModel,
  stop,
  text,
  thinking,
  toolCall,
  usage,
} from "./scripted-model.js";
