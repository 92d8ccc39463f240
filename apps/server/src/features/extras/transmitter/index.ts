export {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
  revokeReceiverToken,
  unknownReceiver,
} from './tokens.ts';
