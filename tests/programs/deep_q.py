"""A loop like DQN's: an environment, a replay buffer, a network and its delayed copy, steps in tf.function; then actor and critic."""
import collections

import numpy as np
import tensorflow as tf


class Walk:
    """A walk on a line of nine places: right is good, the steps are few."""

    def reset(self):
        self.place, self.left = 4, 20
        return self.state()

    def state(self):
        return np.array([self.place / 4 - 1, self.left / 20], "float32")

    def step(self, action):
        self.place = int(np.clip(self.place + (1 if action else -1), 0, 8))
        self.left -= 1
        return self.state(), np.float32(self.place == 8) - np.float32(0.05), self.place in (0, 8) or self.left == 0


def network():
    return tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu", input_shape=(2,)), tf.keras.layers.Dense(2)])


def deep_q(random):
    online, target = network(), network()
    target.set_weights(online.get_weights())
    optimizer, loss_function = tf.keras.optimizers.Adam(0.01), tf.keras.losses.Huber()
    memory, environment, losses, returns = collections.deque(maxlen=400), Walk(), [], []

    @tf.function
    def train(states, actions, rewards, following, ended):
        best = rewards + 0.95 * (1.0 - ended) * tf.reduce_max(target(following), axis=1)
        with tf.GradientTape() as tape:
            chosen = tf.reduce_sum(online(states) * tf.one_hot(actions, 2), axis=1)
            loss = loss_function(best, chosen)
        optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
        return loss

    for episode in range(8):
        state, ended, total = environment.reset(), False, 0.0
        while not ended:
            action = int(random.integers(2)) if random.random() < max(0.1, 1 - episode / 5) else int(np.argmax(online(state[None])[0]))
            following, reward, ended = environment.step(action)
            memory.append((state, action, reward, following, np.float32(ended)))
            state, total = following, total + float(reward)
            if len(memory) >= 16:
                rows = [memory[i] for i in random.integers(len(memory), size=16)]
                losses.append(float(train(*(tf.constant(np.array(column)) for column in zip(*rows)))))
        returns.append(total)
        if episode % 2:
            target.set_weights(online.get_weights())
    return losses, returns


class ActorCritic(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.common, self.actor, self.critic = tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


def actor_critic(random):
    model, optimizer, environment = ActorCritic(), tf.keras.optimizers.Adam(0.01), Walk()

    def step(action):
        state, reward, ended = environment.step(action)
        return state, np.array(reward, np.float32), np.array(ended, np.int32)

    @tf.function
    def episode(initial):
        chances, values, rewards = (tf.TensorArray(tf.float32, size=0, dynamic_size=True) for _ in range(3))
        state = initial
        for t in tf.range(20):
            logits, value = model(tf.expand_dims(state, 0))
            action = tf.random.categorical(logits, 1)[0, 0]
            values = values.write(t, tf.squeeze(value))
            chances = chances.write(t, tf.nn.softmax(logits)[0, action])
            state, reward, ended = tf.numpy_function(step, [action], [tf.float32, tf.float32, tf.int32])
            state.set_shape([2])
            rewards = rewards.write(t, reward)
            if tf.cast(ended, tf.bool):
                break
        return chances.stack(), values.stack(), rewards.stack()

    def returns_of(rewards):
        n = tf.shape(rewards)[0]
        returns, total = tf.TensorArray(tf.float32, size=n), tf.constant(0.0)
        backwards = rewards[::-1]
        for i in tf.range(n):
            total = backwards[i] + 0.9 * total
            total.set_shape([])
            returns = returns.write(i, total)
        returns = returns.stack()[::-1]
        return (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-6)

    @tf.function
    def train(initial):
        with tf.GradientTape() as tape:
            chances, values, rewards = episode(initial)
            returns = returns_of(rewards)
            advantage = returns - values
            loss = -tf.reduce_sum(tf.math.log(chances) * advantage) + tf.keras.losses.Huber(reduction="sum")(values, returns)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss, tf.reduce_sum(rewards)

    return [[float(v) for v in train(tf.constant(environment.reset()))] for _ in range(4)]


def main():
    tf.keras.utils.set_random_seed(111)
    random = np.random.default_rng(111)
    losses, returns = deep_q(random)
    return {"losses": losses[:40], "steps": len(losses), "returns": returns, "actor": actor_critic(random)}
